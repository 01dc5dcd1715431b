public import Schema

/// The purpose of a ring of keys. Each purpose has a ring of its own; only the services that need it get it.
public enum KeyPurpose: String, Sendable, CaseIterable {
    /// Faces: templates, including those that wait for a proof of the e-mail, and the photos of sessions.
    case faces
    /// What accounts consist of: e-mails, names, ids of identity providers' users, and the texts of reports.
    case accounts
    /// Push tokens, and the texts of notifications.
    case tokens
    /// The uploads and pictures of image jobs, and the photos of topics.
    case pictures
    /// Hashes, not sealed values: the lookups of e-mails and of users of identity providers, and the values derived from them.
    case lookups

    /// The rings that seal.
    public static let sealing: [KeyPurpose] = [.faces, .accounts, .tokens, .pictures]

    /// The name of the setting with the ring.
    public var setting: String {
        switch self {
        case .faces: "FACE_KEYS"
        case .accounts: "ACCOUNT_KEYS"
        case .tokens: "TOKEN_KEYS"
        case .pictures: "PICTURE_KEYS"
        case .lookups: "LOOKUP_KEYS"
        }
    }

    /// The services that have the ring, because they seal or open its values.
    public var services: [ServiceRole] {
        switch self {
        case .faces: [.identityAPI, .faceMatchingWorker]
        case .accounts: [.identityAPI]
        case .tokens: [.identityAPI, .notifier]
        case .pictures: [.identityAPI, .imageWorker]
        case .lookups: [.identityAPI]
        }
    }

    /// The use of the ring and the services that have it, for the documentation of the setting.
    public var about: String {
        let content =
            switch self {
            case .faces: "seals faces and the photos of sessions"
            case .accounts: "seals e-mails, names, ids of identity providers' users and the texts of reports"
            case .tokens: "seals push tokens and the texts of notifications"
            case .pictures: "seals pictures of jobs and photos of topics"
            case .lookups: "finds e-mails and users of identity providers by keyed hashes, and derives tokens and codes"
            }
        return "\(content); for \(services.map(\.rawValue).joined(separator: " and "))"
    }
}
