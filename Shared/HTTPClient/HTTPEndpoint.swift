/// Checks URLs that come from settings.
public enum HTTPEndpoint {
    /// Returns the fault of a URL that secrets are sent to, as the end of a sentence; nil when the URL is valid.
    ///
    /// It must begin with `https://`; plain `http://` is allowed for this machine only.
    public static func fault(in url: String) -> String? {
        if url.hasPrefix("https://") { return nil }
        guard url.hasPrefix("http://") else { return "must begin with https://" }
        let authority = url.dropFirst("http://".count).prefix { !"/?#".contains($0) }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        guard ["localhost", "127.0.0.1", "[::1]"].contains(String(host)) else {
            return "may begin with http:// only on this machine (localhost)"
        }
        return nil
    }
}
