public import Foundation

/// The tokens of a sign-in, as the API answers them to a redeemed session and to a refresh.
public struct AccountTokens: Codable, Hashable, Sendable {
    /// The bearer of requests of the account.
    public let accessToken: String
    /// The token for the next pair; it can be used once.
    public let refreshToken: String
    /// The seconds for which the access token is valid.
    public let expiresIn: Int
    /// The id of the account.
    public let userID: String

    /// Creates the tokens of an answer; `expiresIn` counts seconds from its receipt.
    public init(accessToken: String, refreshToken: String, expiresIn: Int, userID: String) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.userID = userID
    }

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
        case userID = "user_id"
    }
}

/// A sign-in of this device, with its newest tokens.
public struct AccountSession: Codable, Hashable, Sendable, Identifiable {
    /// Names the sign-in on this device; the API does not know it. A refresh keeps it.
    public let id: UUID
    /// The bearer of requests of the account.
    public let accessToken: String
    /// The token for the next pair; it can be used once.
    public let refreshToken: String
    /// The time from which the access token is not valid any more, by the clock of the device.
    public let expiresAt: Date
    /// The id of the account.
    public let userID: String
    let receivedAt: Date

    /// The seconds for which the access token is valid from its receipt.
    var lifetime: TimeInterval { expiresAt.timeIntervalSince(receivedAt) }
    /// The time from which the access token is renewed before it is used.
    var renewAt: Date { expiresAt - min(30, lifetime / 10) }

    init(id: UUID, _ tokens: AccountTokens, receivedAt now: Date) {
        let seconds = Double(max(0, min(tokens.expiresIn, 366 * 86_400)))
        self.id = id
        accessToken = tokens.accessToken
        refreshToken = tokens.refreshToken
        expiresAt = now + seconds
        receivedAt = now
        userID = tokens.userID
    }
}

/// Returns the Firebase ID token of the person signed in with Firebase.
///
/// - Parameter forceRefresh: Whether a cached token must not be returned, because the API has refused it.
/// - Throws: A ``HeliographError`` with ``HeliographError/Code/signedOut`` when no person is signed in; any other error counts as a fault
///   that may pass.
public typealias FirebaseTokenProvider = @Sendable (_ forceRefresh: Bool) async throws -> String
