/// The handlers of an app's parts for an arriving push. Each runs once for a push, however often the push is reported in a process, and may
/// run again after a restart of the app. A lost push runs no handler.
///
/// In the background the system waits for them, for up to 25 seconds.
public struct PushHandlers: Sendable {
    /// A job may have ended: asks the API for its state.
    public var jobPush: @Sendable (PushMessage.Job) async -> Void = { _ in }
    /// A session may be decided: asks the API for its state, if it is of this phone. The handler is given the id alone, for a push proves
    /// no sign-in.
    public var sessionPush: @Sendable (_ sessionID: String) async -> Void = { _ in }
    /// Returns the nonce of a possession check (`POST /v1/users/device-token/confirm`).
    public var installNonce: @Sendable (PushMessage.PossessionCheck) async -> Void = { _ in }
    /// Sets the number on the app's icon. Called for one number after the other.
    public var badge = Self.systemBadge
    /// Every push, after the handler of its kind: to fetch photos, messages, or the account.
    public var message: @Sendable (PushMessage) async -> Void = { _ in }
    /// Changes the presentation of a push in the foreground. It is not called for the conversation on the screen, whose pushes are not
    /// shown.
    public var presentation: @Sendable (PushMessage, ForegroundPolicy.Presentation) -> ForegroundPolicy.Presentation = { $1 }

    /// Creates handlers that do nothing, except that the badge is set on the app's icon, if the system has one.
    public init() {}

    #if !canImport(UserNotifications)
        /// There is no icon.
        static let systemBadge: @Sendable (Int) async -> Void = { _ in }
    #endif
}
