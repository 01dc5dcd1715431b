/// Checks picture URLs for use in a push.
enum PushImage {
    /// The longest URL, in bytes: it is in a message, limited to 4 KB, two or three times.
    private static let maxURLByteCount = 700

    /// Returns the URL when a phone will accept it, else nil: a push without its picture is better than no push.
    ///
    /// Phones load https only; http is for a simulator on the machine that runs the system. A URL with a user name is refused: this system
    /// makes no such URLs.
    static func usable(_ url: String) -> String? {
        guard url.utf8.count <= maxURLByteCount, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        let isSecure = url.hasPrefix("https://")
        guard isSecure || url.hasPrefix("http://") else { return nil }
        let authority = url.dropFirst(isSecure ? 8 : 7).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.isEmpty || authority.contains("@") { return nil }
        let host = authority.prefix { $0 != ":" }
        return isSecure || host == "localhost" || host == "127.0.0.1" ? url : nil
    }
}
