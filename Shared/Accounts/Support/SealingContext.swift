public import FoundationEssentials
internal import WireFormat

/// The contexts that sealed bytes are bound to: the additional authenticated data of sealed columns. Those of installations and of the
/// texts of pushes are in `PushInstall` and `SealedText`.
///
/// A value copied into another row, or another column, does not open there.
public enum SealingContext {
    /// For `users.email_sealed`, and wherever the e-mail is before: the account has its id before it is made.
    public static func email(accountID: UUID) -> [UInt8] {
        Array("email:\(accountID.wireString)".utf8)
    }

    /// For `users.subject_sealed`: an identity provider's id of the person.
    public static func subject(userID: UUID) -> [UInt8] {
        Array("subject:\(userID.wireString)".utf8)
    }

    /// For `users.display_name_sealed`.
    public static func displayName(userID: UUID) -> [UInt8] {
        Array("display_name:\(userID.wireString)".utf8)
    }

    /// For `reports.text_sealed`.
    public static func report(id: UUID) -> [UInt8] {
        Array("report:\(id.wireString)".utf8)
    }

    /// For `face_templates.template_sealed`.
    public static func faceTemplate(userID: UUID) -> [UInt8] {
        Array("face_template:\(userID.wireString)".utf8)
    }
}
