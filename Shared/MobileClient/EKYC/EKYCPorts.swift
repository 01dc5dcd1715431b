internal import Foundation

/// What the sessions of this device need from the rest of the module and from the app.
struct EKYCPorts: Sendable {
    let sender: any APISender
    let store: PendingTaskStore
    let secrets: any PendingSecrets
    let time: TimeSource
    /// The FCM token of this device; nil before Firebase has given one.
    let pushToken: @Sendable () async -> String?
    /// Begins a sign-in with these tokens in the credential store, in place of any other. Returns when the store has them. It may be
    /// called again with the same tokens, and must not call ``EKYCSessionManager/signedOut()``, which would wait for it.
    let signIn: @Sendable (AccountTokens) async throws -> Void
    /// Whether the credential store has a sign-in of this user.
    let isSignedIn: @Sendable (_ userID: String) async -> Bool
    /// Makes photos smaller that are larger than the API takes; nil where nothing can.
    var scaler: (any PhotoScaling)?
}

/// What a session has its manager do.
struct EKYCHooks: Sendable {
    /// Tokens of another sign-in are about to be stored: uploads in the name of the account must not become another account's.
    let willSignIn: @Sendable (_ id: UUID) async -> Void
    /// The session has its id at the API. Says whether a push about it came before.
    let didBegin: @Sendable (_ sessionID: UUID) async -> Bool
    /// The app has taken the outcome of the session.
    let acknowledge: @Sendable (_ id: UUID) async -> Void
    /// Nothing of the session is kept any more, and nothing of it is under way.
    let didRemove: @Sendable (_ id: UUID) async -> Void
}
