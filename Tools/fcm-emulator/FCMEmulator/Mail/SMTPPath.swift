/// The parameter of `MAIL FROM:` or `RCPT TO:` (RFC 5321 § 4.1.2): an address in angle brackets, and extensions.
struct SMTPPath {
    /// The address; empty for `<>`.
    let address: String
    /// The extensions, such as `SIZE=100`, in capitals.
    let extensions: [(name: String, value: String?)]

    /// Reads what follows `MAIL ` or `RCPT `; nil when its syntax is bad.
    ///
    /// - Parameter label: `FROM:` or `TO:`.
    init?(_ parameter: String, after label: String) {
        guard parameter.uppercased().hasPrefix(label) else { return nil }
        let rest = parameter.dropFirst(label.count).drop { $0 == " " }
        guard rest.first == "<", let close = rest.firstIndex(of: ">") else { return nil }
        address = String(rest[rest.index(after: rest.startIndex)..<close])
        extensions = rest[rest.index(after: close)...].split(separator: " ").map { word in
            let parts = word.uppercased().split(separator: "=", maxSplits: 1)
            return (String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : nil)
        }
        guard address.isEmpty || Self.isAddress(address) else { return nil }
    }

    /// Whether the address has characters beyond ASCII, which need SMTPUTF8 (RFC 6531).
    var isInternational: Bool { !address.utf8.allSatisfy { $0 < 0x80 } }

    private static func isAddress(_ text: String) -> Bool {
        guard text.utf8.count <= 254, let at = text.lastIndex(of: "@"), at != text.startIndex else { return false }
        let isClean = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F && $0 != "<" }
        return isClean && text.index(after: at) != text.endIndex
    }
}
