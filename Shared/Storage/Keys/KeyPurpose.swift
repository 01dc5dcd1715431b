/// What a ring of sealing keys is for. Each purpose has a ring of its own, which only the services that need it are given.
public enum KeyPurpose: String, Sendable, CaseIterable {
    /// Faces: templates, also those that wait for a proof of the e-mail, and the photos of sessions.
    case faces
    /// What accounts consist of: e-mails, names, and the texts of reports.
    case accounts
    /// Push tokens, and the texts of notifications.
    case tokens
    /// The uploads and pictures of image jobs, and the photos of topics.
    case pictures

    /// The name of the setting with the ring.
    public var setting: String {
        switch self {
        case .faces: "FACE_KEYS"
        case .accounts: "ACCOUNT_KEYS"
        case .tokens: "TOKEN_KEYS"
        case .pictures: "PICTURE_KEYS"
        }
    }

    /// What the ring seals and which services have it, for the documentation of the setting.
    public var about: String {
        switch self {
        case .faces: "seals faces and the photos of sessions; for identity-api and face-matching-worker"
        case .accounts: "seals e-mails, names and the texts of reports; for identity-api"
        case .tokens: "seals push tokens and the texts of notifications; for identity-api and notifier"
        case .pictures: "seals pictures of jobs and photos of topics; for identity-api and image-worker"
        }
    }
}
