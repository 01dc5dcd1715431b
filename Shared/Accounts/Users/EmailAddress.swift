internal import Foundation
public import HeliographCrypto

/// An e-mail address in the normalised spelling that identifies an account.
///
/// White space and invisible characters around it are dropped, the rest is composed (NFC) and lower-cased, local part included: people
/// spell their own address in different ways, and no major provider distinguishes upper and lower case. An international domain is in
/// A-labels (RFC 5890), which every mail server takes, so that both of its spellings are one address.
public struct EmailAddress: Sendable, Equatable {
    /// The maximum length of an address in bytes (RFC 5321 §4.5.3.1.3, erratum 1690).
    public static let maxBytes = 254
    private static let maxLocalBytes = 64

    /// The normalised address. Never logged.
    public let normalised: String

    /// Normalises a typed address; nil for an invalid one.
    public init?(_ text: String) {
        let address = Self.visible(text).precomposedStringWithCanonicalMapping.lowercased()
        guard address.utf8.count <= Self.maxBytes else { return nil }
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isLocalPart(parts[0]), let domain = DomainName.ascii(parts[1]) else { return nil }
        normalised = "\(parts[0])@\(domain)"
        guard normalised.utf8.count <= Self.maxBytes else { return nil }
    }

    /// Takes an address that was normalised when it was stored.
    init(stored: String) { normalised = stored }

    /// The lookups by which its account is found: `email_lookups.lookup`.
    ///
    /// - Parameter keys: `LOOKUP_KEYS`.
    public func lookups(under keys: LookupKeys) -> [[UInt8]] { keys.lookups(of: "email:\(normalised)") }

    /// Whether mails to it need a mail server with the extension SMTPUTF8 (RFC 6531).
    public var needsInternationalMail: Bool { !normalised.utf8.allSatisfy { $0 < 0x80 } }

    /// Returns the text without the white space and the invisible marks around it, which pages and keyboards add to a copied address.
    private static func visible(_ text: String) -> String {
        func isDropped(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.isWhitespace || scalar.properties.generalCategory == .format || scalar == "\0"
        }
        let start = text.unicodeScalars.drop(while: isDropped)
        return String(String.UnicodeScalarView(start.reversed().drop(while: isDropped).reversed()))
    }

    private static func isLocalPart(_ part: Substring) -> Bool {
        guard 1...maxLocalBytes ~= part.utf8.count else { return false }
        // Between dots: the characters of RFC 5322's atoms, or any letter beyond ASCII (RFC 6531). No quoted strings. Carriers gave out
        // addresses with a dot at the end, and with several in a row.
        return part.first != "."
            && part.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    ? scalar.properties.isAlphabetic || ".0123456789!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
                    : DomainName.isVisible(scalar)
            }
    }
}
