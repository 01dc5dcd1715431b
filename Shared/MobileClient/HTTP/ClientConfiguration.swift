public import Foundation

/// Says which API the client talks to, for which app, and where it may keep files.
public struct ClientConfiguration: Sendable, Equatable {
    /// The root of the API, without a slash at its end, for example `https://api.example.com`.
    public let baseURL: URL
    /// The version of the app, which the API keeps with the device, for example `2.4.1`.
    public let appVersion: String
    /// The language of texts from the API, as in BCP 47, for example `de-CH`.
    public let locale: String
    /// The folder for the client's files, which app and notification extension share.
    public let folder: URL
    /// Whether `http` is allowed to this device itself, as in development.
    public let allowsInsecureLocalhost: Bool
    /// Whether `http` is allowed to any host. Tokens and photos are then readable on the way: for tests in a network of containers only.
    public let allowsInsecureHTTP: Bool
    /// The value of the header `User-Agent`.
    public let userAgent: String

    /// Creates a configuration.
    ///
    /// - Throws: `invalid_argument` when the URL has another scheme than `https` (but see the two exceptions), a user, a query or a
    ///   fragment, or when a text contains control characters.
    public init(
        baseURL: URL, appVersion: String, locale: String = Self.systemLanguage, folder: URL, allowsInsecureLocalhost: Bool = true,
        allowsInsecureHTTP: Bool = false, userAgent: String? = nil
    ) throws(HeliographError) {
        let userAgent = userAgent ?? "MobileClient (app \(appVersion))"
        for text in [appVersion, locale, userAgent] where !HeaderRules.isValue(text) || text.isEmpty {
            throw HeliographError(
                .invalidArgument, "The app's version, the language or the user agent has characters that no header allows")
        }
        let isLocal = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(baseURL.host?.lowercased() ?? "")
        let allowsHTTP = allowsInsecureHTTP || allowsInsecureLocalhost && isLocal
        let scheme = baseURL.scheme?.lowercased()
        guard let host = baseURL.host, !host.isEmpty, scheme == "https" || scheme == "http" && allowsHTTP else {
            throw HeliographError(.invalidArgument, "The base URL must be an https URL with a host")
        }
        guard baseURL.user == nil, baseURL.password == nil, baseURL.query == nil, baseURL.fragment == nil else {
            throw HeliographError(.invalidArgument, "The base URL must have no user, no query and no fragment")
        }
        var text = baseURL.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        guard let trimmed = URL(string: text), trimmed.host == host else {
            throw HeliographError(.invalidArgument, "The base URL cannot be read")
        }
        self.baseURL = trimmed
        self.appVersion = appVersion
        self.locale = locale
        self.folder = folder
        self.allowsInsecureLocalhost = allowsInsecureLocalhost
        self.allowsInsecureHTTP = allowsInsecureHTTP
        self.userAgent = userAgent
    }

    /// The language that the device prefers, as in BCP 47.
    public static var systemLanguage: String { Locale.preferredLanguages.first ?? "en" }
}
