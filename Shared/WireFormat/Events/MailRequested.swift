public import FoundationEssentials
public import JSON

/// An e-mail was requested; names its kind and its subject, but neither an address nor a code.
public struct MailRequested: Event {
    /// `mail.requested`, which is also the name of the stream.
    public static var type: EventType { .mailRequested }
    /// Only identity-api, which writes and sends the mail.
    public static var groups: [String] { ["identity-api"] }

    /// The kind of the mail, which also decides what ``subjectID`` names.
    public var kind: MailKind
    /// The mail with codes, the verification or the account that the mail is about; see ``MailKind``.
    public var subjectID: UUID

    /// The id of the subject, so that mails about one subject are published in order.
    public var key: String { subjectID.wireString }

    /// Creates the event; `subjectID` names the row that ``MailKind`` states for `kind`.
    public init(kind: MailKind, subjectID: UUID) {
        self.kind = kind
        self.subjectID = subjectID
    }

    /// Reads `kind` and `subject_id`; throws if one of them is missing.
    public init(from body: BodyReader) throws(BodyFault) {
        kind = try body.read("kind")
        subjectID = try body.read("subject_id")
    }

    /// Writes `kind` and `subject_id`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("kind", kind)
        body.member("subject_id", subjectID)
    }
}
