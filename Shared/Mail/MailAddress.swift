/// An address with the name that mail programs show for it.
public struct MailAddress: Sendable, Hashable {
    /// The name; empty for an address without a name.
    public let name: String
    /// The address, such as `someone@example.com`.
    public let address: String

    /// Reads `Name <address>`, `"Name" <address>` or `address`; nil when that is not an address that can be sent to.
    public init?(_ text: String) {
        guard text.utf8.count <= 500, !Self.hasControls(text) else { return nil }
        // By scalars: with a mark after it, a quotation mark or a bracket is another character.
        let scalars = text.unicodeScalars
        guard let open = scalars.lastIndex(of: "<") else {
            self.init(name: "", address: text)
            return
        }
        guard scalars.last == ">" else { return nil }
        var name = scalars[..<open].drop { $0 == " " }
        while name.last == " " { name.removeLast() }
        if name.count >= 2, name.first == "\"", name.last == "\"" { name = name.dropFirst().dropLast() }
        guard !name.contains(where: { "\"\\<>".unicodeScalars.contains($0) }), name.first.map(Self.isMark) != true else { return nil }
        self.init(name: String(name), address: String(scalars[scalars.index(after: open)...].dropLast()))
    }

    private init?(name: String, address: String) {
        guard Self.isSendable(address), Self.path(of: address) == address else { return nil }
        self.name = name
        self.address = address
    }

    /// The part of the address after the `@`.
    var domain: Substring { address[address.index(after: address.lastIndex(of: "@") ?? address.startIndex)...] }

    /// Whether an address can be a parameter of SMTP commands and a value of header fields without quoting.
    ///
    /// Quoted local parts (`"a b"@example.com`) are refused: hardly any mailbox has one, and their characters could end a command. Dots are
    /// accepted in any place, because carriers gave out such addresses; ``path(of:)`` quotes them.
    public static func isSendable(_ address: String) -> Bool {
        guard (3...MailMessage.maxAddressByteCount).contains(address.utf8.count), let at = address.lastIndex(of: "@") else { return false }
        let (local, domain) = (address[..<at], address[address.index(after: at)...])
        return (1...64).contains(local.utf8.count) && isDotted(local, mayBeEmpty: true) && isDotted(domain) && !domain.hasPrefix("-")
    }

    /// Returns an address as commands and header fields need it: the local part is quoted when it has dots where a dot-atom does not allow
    /// them (RFC 5321 § 4.1.2).
    static func path(of address: String) -> String {
        guard let at = address.lastIndex(of: "@"), !isDotted(address[..<at]) else { return address }
        return "\"\(address[..<at])\"\(address[at...])"
    }

    /// Whether the text consists of atoms with dots between them (RFC 5322 § 3.2.3, and RFC 6532 § 3.2 for characters beyond ASCII).
    private static func isDotted(_ text: Substring, mayBeEmpty: Bool = false) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            (mayBeEmpty || !atom.isEmpty) && !hasControls(atom)
                && !atom.unicodeScalars.contains { #" "(),:;<>@[\]"#.unicodeScalars.contains($0) }
        }
    }

    /// Whether a character joins the one before it: at the beginning of a name, what a mail program writes before the name.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
    }

    /// Whether a text has control characters, line separators or invisible characters that reorder it.
    static func hasControls(_ text: some StringProtocol) -> Bool {
        text.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .format, .surrogate, .unassigned, .privateUse: true
            default: false
            }
        }
    }
}
