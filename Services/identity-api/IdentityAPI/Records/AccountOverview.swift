internal import FoundationEssentials
internal import HeliographCrypto
internal import JSON
internal import PostgresClient
internal import Storage
internal import WireFormat

/// The owner's view of an account: its e-mail and identity providers, and the numbers of its devices, sign-ins and topics. It has no
/// secret.
struct AccountOverview: Sendable {
    let json: JSONValue

    /// Reads an account; nil when it is gone.
    init?(of userID: UUID, in postgres: PostgresClient, _ keys: AccountKeys) async throws {
        guard let account = try await UserRepository(postgres).summary(id: userID) else { return nil }
        let consent = try await ConsentRepository(postgres).latest(of: userID)
        let recovery = try await PendingEnrolmentRepository(postgres).recovery(of: userID)
        json = .members(
            ("user_id", .string(userID.wireString)),
            ("email", try account.emailSealed.map { .string(try keys.address($0, of: userID)) } ?? .null),
            (DisplayName.field, try keys.displayName(of: account).map(JSONValue.string) ?? .null),
            ("created_at", .string(Answer.timestamp(account.createdAt))), ("face", Self.face(of: account) ?? .null),
            ("recovery_takes_effect_at", Self.time(recovery)), ("consent", consent.map(Self.describe) ?? .null),
            ("identity_providers", .array(account.identityProviders.map(JSONValue.string))), ("devices", .integer(account.installs)),
            ("sessions", .integer(account.signIns)), ("topics", .integer(account.topics)))
    }

    /// The model and times of the enrolled face, but not its descriptor; nil without a face.
    private static func face(of account: AccountSummary) -> JSONValue? {
        guard let enrolledAt = account.faceEnrolledAt, let changedAt = account.faceAt else { return nil }
        return .members(
            ("enrolled_at", time(enrolledAt)), ("replaced_at", time(changedAt > enrolledAt ? changedAt : nil)),
            ("model", account.faceModel.map(JSONValue.string) ?? .null))
    }

    private static func describe(_ consent: Consent) -> JSONValue {
        .object(ConsentRequirement.describe(consent.text) + [JSONValue.Member("given_at", time(consent.givenAt))])
    }

    private static func time(_ date: Date?) -> JSONValue { date.map { .string(Answer.timestamp($0)) } ?? .null }
}
