/// The URL by which phones reach the service, such as `https://api.example.org`; the start of all links.
///
/// It must be https, because phones load nothing else; http is allowed for this machine only, for local tests.
public struct PublicURL: Sendable, Equatable {
    /// The URL without a trailing slash.
    public let text: String

    private static let localHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Parses a URL of scheme, host, optional port and optional path; nil for any other text.
    public init?(_ text: String) {
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = text.utf8.dropFirst(isSecure ? 8 : 7)
        guard rest.allSatisfy(Self.isPlain) else { return nil }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        guard let host = Self.host(of: String(decoding: Array(authority), as: UTF8.self)), isSecure || Self.localHosts.contains(host)
        else { return nil }
        self.text = rest.last == UInt8(ascii: "/") ? String(text.dropLast()) : text
    }

    /// Returns the host of an authority; nil when the host is missing or the port is invalid.
    private static func host(of authority: String) -> String? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            let rest = authority[authority.index(after: end)...]
            return rest.isEmpty || isPort(rest) ? String(authority[...end]) : nil
        }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard !parts[0].isEmpty, parts.count == 1 || (parts.count == 2 && isPort(":" + parts[1])) else { return nil }
        return String(parts[0])
    }

    private static func isPort(_ text: some StringProtocol) -> Bool {
        text.hasPrefix(":") && UInt16(text.dropFirst()).map { $0 > 0 } ?? false
    }

    /// Returns whether a byte is allowed; query, fragment, user name and escapes are not.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default:
            ".-_~:/[]".utf8.contains(byte)
        }
    }
}
