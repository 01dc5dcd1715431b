/// Gives the access tokens that allow sending.
public protocol AccessTokenSource: Sendable {
    /// The token at hand that is valid now; nil when one has to be waited for.
    var current: String? { get }

    /// Returns a token that is valid now.
    ///
    /// - Throws: `credentialsRefused` when asking again is no use, `tokenUnavailable` when it may be later.
    func accessToken() async throws(FCMError) -> String

    /// Returns another token after FCM refused one, or nil when there is none to be had soon.
    func accessToken(afterRefusalOf token: String) async -> String?
}
