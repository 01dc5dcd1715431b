public import WireFormat

/// The name of a kind of push, as events, tables and the data of pushes spell it.
public enum NotificationKind: String, BodyWord {
    /// A picture is ready.
    case jobCompleted = "job_completed"
    /// A picture could not be made.
    case jobFailed = "job_failed"
    /// An enrolment of a face has succeeded or failed.
    case signUp = "sign_up"
    /// A recognition of a face has succeeded or failed.
    case signIn = "sign_in"
    /// A topic has new photos.
    case newPhotos = "new_photos"
    /// A message was posted.
    case chatMessage = "chat_message"
    /// The user is invited to a topic.
    case invitation
    /// The user's account was changed, or used on another device.
    case accountAlert = "account_alert"
    /// A sign-in on a new device waits to be confirmed.
    case signInConfirmation = "sign_in_confirmation"
    /// An app has to prove that it receives the pushes to its installation.
    case possessionCheck = "possession_check"
    /// An app's own server has something to say.
    case custom

    /// The type with the members and the rules of the kind.
    public var type: any PushKind.Type {
        switch self {
        case .jobCompleted: JobCompletedPush.self
        case .jobFailed: JobFailedPush.self
        case .signUp: SignUpPush.self
        case .signIn: SignInPush.self
        case .newPhotos: NewPhotosPush.self
        case .chatMessage: ChatMessagePush.self
        case .invitation: InvitationPush.self
        case .accountAlert: AccountAlertPush.self
        case .signInConfirmation: SignInConfirmationPush.self
        case .possessionCheck: PossessionCheckPush.self
        case .custom: CustomPush.self
        }
    }
}
