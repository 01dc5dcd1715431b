internal import Accounts

/// The host and the port of a URL, as they are compared: in lower case, an international host in A-labels.
struct HostAddress: Sendable, Equatable {
    let host: String
    /// Nil for the scheme's default port.
    var port: UInt16?

    /// `host` or `host:port`.
    var text: String { host + (port.map { ":\($0)" } ?? "") }

    /// Reads the part of a URL between its scheme and its path, without a user name; nil when it is not valid.
    init?(_ authority: some StringProtocol) {
        let hostEnd =
            authority.first == "["
            ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : authority.firstIndex(of: ":") ?? authority.endIndex
        guard let hostEnd, hostEnd > authority.startIndex else { return nil }
        let host = authority[..<hostEnd].lowercased()
        guard let ascii = host.utf8.allSatisfy({ $0 < 0x80 }) ? host : DomainName.ascii(host) else { return nil }
        self.host = ascii
        let rest = authority[hostEnd...]
        guard !rest.isEmpty else { return }
        guard rest.first == ":", let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
        self.port = port
    }
}
