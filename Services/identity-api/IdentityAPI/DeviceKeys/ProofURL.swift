internal import BlobStore

/// A URL as proofs compare it (RFC 9449 §4.3): scheme and host in lower case, without the scheme's usual port, a query and a fragment.
struct ProofURL: Sendable, Equatable {
    private let scheme: String
    private let address: HostAddress
    private let path: String

    /// Reads an absolute URL; nil for any other text, and for one with a user name.
    init?(_ text: String) {
        guard let colon = text.firstRange(of: "://") else { return nil }
        scheme = text[..<colon.lowerBound].lowercased()
        guard let usualPort = ["http": 80, "https": 443][scheme] else { return nil }
        let rest = text[colon.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        guard !authority.contains("@"), var address = HostAddress(authority) else { return nil }
        if address.port == UInt16(usualPort) { address.port = nil }
        self.address = address
        let path = rest[authority.endIndex...]
        self.path = path.isEmpty ? "/" : String(path)
    }

    /// Makes the URL at which apps reach the API.
    init?(_ url: PublicURL) { self.init(url.text) }

    private init(scheme: String, address: HostAddress, path: String) {
        (self.scheme, self.address, self.path) = (scheme, address, path)
    }

    /// Returns the URL of a request whose path is below this one.
    func appending(_ path: String) -> ProofURL {
        ProofURL(scheme: scheme, address: address, path: self.path == "/" ? path : self.path + path)
    }
}
