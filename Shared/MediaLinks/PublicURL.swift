/// Where phones reach the service, such as `https://api.example.org`; what links begin with.
///
/// It is https, because phones load nothing else; only this machine itself may be addressed by http, for trying things out.
public struct PublicURL: Sendable, Equatable {
    /// The URL, without a slash at its end.
    public let text: String

    private static let localHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Reads a URL of scheme, host, and perhaps port and path; nil for anything else.
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

    /// The host of an authority, nil when there is none or the port is not a number.
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

    /// Whether it may stand in a URL as it is; no query, fragment, user name or escape is needed here.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default:
            ".-_~:/[]".utf8.contains(byte)
        }
    }
}
