/// The server of a client.
struct HTTP2Origin: Sendable {
    /// The URL as given by the caller; libcurl validates it.
    let url: String
    /// The pseudo-header fields of all requests: `:scheme`, and `:authority` with the host, and the port if there is one.
    let fields: HeaderFields

    init(_ url: String) {
        self.url = url
        let isPlain = url.hasPrefix("http://")
        let scheme = isPlain ? "http" : "https"
        let rest = url.hasPrefix(scheme + "://") ? url.dropFirst(scheme.utf8.count + 3) : url[...]
        fields = HeaderFields([(":scheme", scheme), (":authority", String(rest.prefix { !"/?#".contains($0) }))])
    }
}
