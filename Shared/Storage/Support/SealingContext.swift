public import FoundationEssentials
internal import WireFormat

/// The contexts that sealed bytes are bound to: the additional authenticated data of every sealed column.
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

    /// For the parameter `text_sealed` of a notification: the text of a message.
    public static func chatPreview(notificationID: UUID) -> [UInt8] {
        Array("chat_preview:\(notificationID.wireString)".utf8)
    }

    /// For the parameter `sender_name_sealed` of a notification: the name of the message's sender.
    public static func chatSenderName(notificationID: UUID) -> [UInt8] {
        Array("chat_sender_name:\(notificationID.wireString)".utf8)
    }

    /// For the parameter `nonce_sealed` of a notification: the nonce that proves the possession of an installation.
    public static func possessionNonce(notificationID: UUID) -> [UInt8] {
        Array("possession_nonce:\(notificationID.wireString)".utf8)
    }

    /// For the parameter `content_sealed` of a notification: the content from an app's own server.
    public static func appContent(notificationID: UUID) -> [UInt8] {
        Array("app_content:\(notificationID.wireString)".utf8)
    }

    /// For a parameter of a notification, by its name; nil for a parameter that is not sealed.
    public static func parameter(_ name: String, notificationID: UUID) -> [UInt8]? {
        switch name {
        case NotificationParameter.textSealed: chatPreview(notificationID: notificationID)
        case NotificationParameter.senderNameSealed: chatSenderName(notificationID: notificationID)
        case NotificationParameter.nonceSealed: possessionNonce(notificationID: notificationID)
        case NotificationParameter.contentSealed: appContent(notificationID: notificationID)
        default: nil
        }
    }

    /// For `reports.text_sealed`.
    public static func report(id: UUID) -> [UInt8] {
        Array("report:\(id.wireString)".utf8)
    }

    /// For `push_installs.value_sealed`.
    public static func pushInstall(installationKey: [UInt8]) -> [UInt8] {
        pushInstallPrefix + installationKey
    }

    private static let pushInstallPrefix = Array("push_install:".utf8)

    /// For `face_templates.template_sealed`.
    public static func faceTemplate(userID: UUID) -> [UInt8] {
        Array("face_template:\(userID.wireString)".utf8)
    }
}
