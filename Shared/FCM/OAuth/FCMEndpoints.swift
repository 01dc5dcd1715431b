internal import HTTPClient

/// The URLs of the token endpoint and of FCM.
///
/// A manipulated key file must not send signed assertions elsewhere, so the file's `token_uri` is used only when it is Google's.
/// Another URL must be configured explicitly, and plain http is allowed for this machine only.
struct FCMEndpoints: Sendable {
    static let googleTokenURL = "https://oauth2.googleapis.com/token"
    /// The URLs at which Google has issued tokens to service accounts.
    private static let googleTokenURLs: Set = [
        googleTokenURL, "https://www.googleapis.com/oauth2/v4/token", "https://accounts.google.com/o/oauth2/token",
    ]

    let token: String
    /// The audience of the assertion: always Google's URL, even when the requests go to a stand-in.
    let audience: String

    init(tokenURL: String?, key: ServiceAccountKey) throws(FCMError) {
        if let tokenURL { try Self.check(tokenURL, "the token URL") }
        let ownURL = key.tokenURI.flatMap { Self.googleTokenURLs.contains($0) ? $0 : nil } ?? Self.googleTokenURL
        token = tokenURL ?? ownURL
        audience = ownURL
    }

    /// Returns origin and path of the URL to which the messages of a project are posted.
    static func send(baseURL: String, projectID: String) throws(FCMError) -> (origin: String, path: String) {
        try check(baseURL, "the base URL of FCM")
        let base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        return (base, "/v1/projects/\(projectID)/messages:send")
    }

    private static func check(_ url: String, _ name: String) throws(FCMError) {
        if let fault = HTTPEndpoint.fault(in: url) { throw FCMError(.configuration, "\(name) \(fault)") }
    }
}
