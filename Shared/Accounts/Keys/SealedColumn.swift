internal import FoundationEssentials
internal import HeliographCrypto
internal import Push
public import Schema

/// A column with sealed bytes: the ring that seals it, and the context of its values.
///
/// ``all`` lists every such column of the schema. A rotation reseals each value of a ring's columns.
public struct SealedColumn: Sendable {
    /// The content of a cell.
    enum Content: Sendable {
        /// One sealed value, bound to the id in the column `owner`.
        case value(owner: String, id: @Sendable (UUID) -> [UInt8])
        /// One sealed value, bound to the keyed hash in the column `owner`.
        case hashed(owner: String, hash: @Sendable ([UInt8]) -> [UInt8])
        /// JSON with the sealed texts of a push; the row has the notification's id.
        case texts
    }

    /// The table.
    public let table: String
    /// The column.
    public let column: String
    /// The ring that seals it.
    public let purpose: KeyPurpose
    /// The primary key of the table, a UUID.
    let key: String
    let content: Content
    /// SQL condition of the rows that have a sealed value.
    let filter: String

    init(
        _ table: String, _ column: String, _ purpose: KeyPurpose, key: String = "id", content: Content, filter: String? = nil
    ) {
        self.table = table
        self.column = column
        self.purpose = purpose
        self.key = key
        self.content = content
        self.filter = filter ?? "\(column) IS NOT NULL"
    }

    /// The name in reports, such as `users.email_sealed`.
    public var name: String { "\(table).\(column)" }

    /// The service that counts its values by key, for the metric `sealed_values`. Its role may read the column.
    public var counter: ServiceRole { table == "notifications" ? .tokenRegistry : .identityAPI }

    /// Whether the number of its values is estimated by a sample of the table; else the values are few, and an index finds them.
    public var isSampled: Bool { if case .texts = content { false } else { true } }

    /// Every column with sealed bytes. Values in streams and in the outbox are not included: they are gone within minutes.
    public static let all = [
        SealedColumn("users", "email_sealed", .accounts, content: email(of: "id")),
        SealedColumn("users", "subject_sealed", .accounts, content: .value(owner: "id", id: SealingContext.subject(userID:))),
        SealedColumn("users", "display_name_sealed", .accounts, content: .value(owner: "id", id: SealingContext.displayName(userID:))),
        SealedColumn("email_verifications", "email_sealed", .accounts, content: email(of: "account_id")),
        SealedColumn(
            "email_verifications", "display_name_sealed", .accounts,
            content: .value(owner: "account_id", id: SealingContext.displayName(userID:))),
        SealedColumn("email_verifications", "former_email_sealed", .accounts, content: email(of: "account_id")),
        SealedColumn("sessions", "email_sealed", .accounts, content: email(of: "user_id")),
        SealedColumn("reports", "text_sealed", .accounts, content: .value(owner: "id", id: SealingContext.report(id:))),
        SealedColumn("face_templates", "template_sealed", .faces, key: "user_id", content: face),
        SealedColumn("pending_enrolments", "template_sealed", .faces, content: face),
        SealedColumn(
            "push_installs", "value_sealed", .tokens,
            content: .hashed(owner: "installation_key", hash: PushInstall.sealingContext(installationKey:))),
        SealedColumn("notifications", "content", .tokens, content: .texts, filter: "state IN ('requested', 'addressed')"),
        SealedColumn("app_notifications", "request", .tokens, content: .texts, filter: "state = 'scheduled'"),
    ]

    private static func email(of owner: String) -> Content { .value(owner: owner, id: SealingContext.email(accountID:)) }
    private static let face = Content.value(owner: "user_id", id: SealingContext.faceTemplate(userID:))
}
