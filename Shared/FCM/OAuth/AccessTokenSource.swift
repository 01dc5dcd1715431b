/// Provides the access tokens for sending.
public protocol AccessTokenSource: Sendable {
    /// The cached token if it is valid now; nil when a new one must be requested first.
    var current: String? { get }

    /// Returns a token that is valid now.
    ///
    /// - Throws: `credentialsRefused` when a retry does not help, `tokenUnavailable` when it may.
    func accessToken() async throws(FCMError) -> String

    /// Returns a new token after FCM refused `token`, or nil when none is available soon.
    func accessToken(afterRefusalOf token: String) async -> String?
}
