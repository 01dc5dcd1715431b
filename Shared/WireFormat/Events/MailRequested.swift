public import FoundationEssentials

/// An e-mail was requested; names its kind and its subject, but neither an address nor a code.
public struct MailRequested: Event {
    public static var type: EventType { .mailRequested }
    public static var groups: [String] { ["identity-api"] }

    public var kind: MailKind
    /// The verification or the account that the mail is about; see ``MailKind``.
    @WireUUID public var subjectID: UUID

    public var key: String { subjectID.wireString }

    public init(kind: MailKind, subjectID: UUID) {
        self.kind = kind
        self.subjectID = subjectID
    }

    enum CodingKeys: String, CodingKey {
        case kind
        case subjectID = "subject_id"
    }
}
