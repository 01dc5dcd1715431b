public import FoundationEssentials
public import JSON

/// An e-mail was requested; names its kind and its subject, but neither an address nor a code.
public struct MailRequested: Event {
    public static var type: EventType { .mailRequested }
    public static var groups: [String] { ["identity-api"] }

    public var kind: MailKind
    /// The mail with codes, the verification or the account that the mail is about; see ``MailKind``.
    public var subjectID: UUID

    public var key: String { subjectID.wireString }

    public init(kind: MailKind, subjectID: UUID) {
        self.kind = kind
        self.subjectID = subjectID
    }

    public init(from body: BodyReader) throws(BodyFault) {
        kind = try body.read("kind")
        subjectID = try body.read("subject_id")
    }

    public func writeMembers(to body: inout JSONWriter) {
        body.member("kind", kind)
        body.member("subject_id", subjectID)
    }
}
