/// The server of a client.
struct HTTP2Origin: Sendable {
    /// The URL as given by the caller; libcurl validates it.
    let url: String
    /// `https` or `http`.
    let scheme: String
    /// The host, and the port if there is one.
    let authority: String

    init(_ url: String) {
        self.url = url
        let isPlain = url.hasPrefix("http://")
        scheme = isPlain ? "http" : "https"
        let rest = url.hasPrefix(scheme + "://") ? url.dropFirst(scheme.utf8.count + 3) : url[...]
        authority = String(rest.prefix { !"/?#".contains($0) })
    }
}
