internal import HTTPClient

/// The addresses a client talks to.
///
/// A key file that somebody changed must not send signed assertions elsewhere, so the file's own `token_uri` counts
/// only when it is Google's; another address must be given on purpose, and plain http only leads to this machine.
struct FCMEndpoints: Sendable {
    static let googleTokenURL = "https://oauth2.googleapis.com/token"
    /// The addresses under which Google has issued tokens to service accounts.
    private static let googleTokenURLs: Set = [
        googleTokenURL, "https://www.googleapis.com/oauth2/v4/token", "https://accounts.google.com/o/oauth2/token",
    ]

    let token: String
    /// The audience of the assertion: always Google, whoever stands in for it.
    let audience: String

    init(tokenURL: String?, key: ServiceAccountKey) throws(FCMError) {
        if let tokenURL { try Self.check(tokenURL, "the token URL") }
        let ownURL = key.tokenURI.flatMap { Self.googleTokenURLs.contains($0) ? $0 : nil } ?? Self.googleTokenURL
        token = tokenURL ?? ownURL
        audience = ownURL
    }

    /// Where the messages of a project are posted to.
    static func send(baseURL: String, projectID: String) throws(FCMError) -> (origin: String, path: String) {
        try check(baseURL, "the base URL of FCM")
        let base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        return (base, "/v1/projects/\(projectID)/messages:send")
    }

    private static func check(_ url: String, _ name: String) throws(FCMError) {
        if let fault = HTTPEndpoint.fault(in: url) { throw FCMError(.configuration, "\(name) \(fault)") }
    }
}
