internal import Foundation

/// The services that the sessions of this device need from the rest of the module and from the app.
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
    /// Scales down photos that are larger than the API accepts; nil without a scaler.
    var scaler: (any PhotoScaling)?
}

/// The actions that a session requests from its manager.
struct EKYCHooks: Sendable {
    /// Tokens of another sign-in are about to be stored: uploads in the name of the account must not become another account's.
    let willSignIn: @Sendable (_ id: UUID) async -> Void
    /// The session has its id at the API. Says whether a push about it came before.
    let didBegin: @Sendable (_ sessionID: UUID) async -> Bool
    /// The app has taken the outcome of the session.
    let acknowledge: @Sendable (_ id: UUID) async -> Void
    /// The person has entered the code that a session waits for.
    let enterCode: @Sendable (_ id: UUID, _ code: String) async -> Void
    /// The session has no stored data any more, and no request in progress.
    let didRemove: @Sendable (_ id: UUID) async -> Void
}
