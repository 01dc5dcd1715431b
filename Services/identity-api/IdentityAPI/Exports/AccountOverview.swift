internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import JSON
internal import PostgresClient
internal import WireFormat

/// The owner's view of an account: its e-mail and identity providers, and the numbers of its devices, sign-ins and topics. It has no
/// secret.
struct AccountOverview: APIObject {
    /// The model and times of an enrolled face, but not its descriptor.
    struct Face: APIObject {
        static let members: [APIMember<Face>] = [
            .required("enrolled_at", \.enrolledAt), .required("replaced_at", \.replacedAt), .required("model", \.model),
        ]

        let enrolledAt: Date
        let replacedAt: Date?
        let model: String?
    }

    static let members: [APIMember<AccountOverview>] = [
        .required("user_id", \.account.id), .required("email", \.email), .required(DisplayName.field, \.displayName),
        .required("created_at", \.account.createdAt), .required("face", \.face),
        .required("recovery_takes_effect_at", \.recoveryTakesEffectAt), .required("consent", \.consent),
        .required("identity_providers", \.account.identityProviders), .required("devices", \.account.installs),
        .required("sessions", \.account.signIns), .required("topics", \.account.topics),
    ]

    private let account: AccountSummary
    private let email: String?
    private let displayName: String?
    private let recoveryTakesEffectAt: Date?
    private let consent: Consent?

    /// Reads an account; nil when it is gone.
    init?(of userID: UUID, in postgres: PostgresClient, _ keys: AccountKeys) async throws {
        guard let account = try await UserRepository(postgres).summary(id: userID) else { return nil }
        consent = try await ConsentRepository(postgres).latest(of: userID)
        recoveryTakesEffectAt = try await PendingEnrolmentRepository(postgres).recovery(of: userID)
        email = try account.emailSealed.map { try keys.address($0, of: userID) }
        displayName = try keys.displayName(of: account)
        self.account = account
    }

    private var face: Face? {
        guard let enrolledAt = account.faceEnrolledAt, let changedAt = account.faceAt else { return nil }
        return Face(enrolledAt: enrolledAt, replacedAt: changedAt > enrolledAt ? changedAt : nil, model: account.faceModel)
    }
}

extension Consent: APIObject {
    static let members: [APIMember<Consent>] = [
        .required("consent_version", \.text.version), .required("consent_sha256", \.text.hashText), .required("given_at", \.givenAt),
    ]
}
