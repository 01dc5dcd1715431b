import Accounts
import Foundation
import Mail

extension FuzzTarget {
    /// A typed address.
    static let emails = FuzzTarget(name: "emails") { bytes in
        let text = FuzzInput(bytes).text
        try checkAccountAddress(text)
        guard let address = MailAddress(text) else { return }
        for part in [address.name, address.address] {
            try require(!part.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a control character in an address")
        }
        try require(!address.address.utf8.contains { " <>,;\"".utf8.contains($0) }, "a character that ends an address")
        let written = address.name.isEmpty ? address.address : "\"\(address.name)\" <\(address.address)>"
        // Spaces and quotation marks around the name may have made the text shorter than it is written.
        guard written.utf8.count <= 500 else { return }
        try requireEqual(MailAddress(written), address, "the address that is written")
    }

    /// An address of an account has one spelling, and mail can be sent to it.
    private static func checkAccountAddress(_ text: String) throws {
        guard let address = EmailAddress(text) else { return }
        try require(address.normalised.utf8.count <= EmailAddress.maxBytes, "the limit of an address")
        let again = EmailAddress(address.normalised)
        try requireEqual(again.map { Array($0.normalised.utf8) }, Array(address.normalised.utf8), "the address that is normalised again")
        let capitals = EmailAddress("  \(address.normalised.uppercased())\n")
        // Capitals may be longer, or another letter: ß becomes SS.
        if address.normalised.utf8.allSatisfy({ $0 < 0x80 }) { try requireEqual(capitals, address, "the address in capitals") }
        try require(MailAddress.isSendable(address.normalised), "an address that no mail is sent to")
    }
}
