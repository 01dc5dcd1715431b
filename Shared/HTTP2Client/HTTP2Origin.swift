/// The one server that a client speaks to.
struct HTTP2Origin: Sendable {
    /// As the caller has written it; libcurl says what is wrong with it.
    let url: String
    /// `https` or `http`.
    let scheme: String
    /// The host, and the port if one was named.
    let authority: String

    init(_ url: String) {
        self.url = url
        let isPlain = url.hasPrefix("http://")
        scheme = isPlain ? "http" : "https"
        let rest = url.hasPrefix(scheme + "://") ? url.dropFirst(scheme.utf8.count + 3) : url[...]
        authority = String(rest.prefix { !"/?#".contains($0) })
    }
}
