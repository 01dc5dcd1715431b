/// Names of notification parameters that are not specific to the texts of one kind.
public enum NotificationParameter {
    /// The member of a topic who caused the notification and is therefore left out; only with a topic as the recipient.
    public static let exceptUserID = "except_user_id"
    /// The installation (`push_installs.id`) that is left out; only with a user as the recipient.
    public static let exceptInstallID = "except_install_id"
    /// The user whose text or picture it shows: members of the topic who block that user get no push. Only with a topic as the recipient.
    public static let senderID = "sender_id"
    /// The blob key of a JPEG, whose media link is created when the push is sent, because events must not carry working links.
    public static let image = "image"
    /// The topic's own id; if its name refers to another topic by then, no push is sent. Only with a topic as the recipient.
    public static let topicID = "topic_id"
    /// The text of a chat message: sealed for `SealingContext.chatPreview`, as base64url. Absent when it is sensitive.
    public static let textSealed = "text_sealed"
    /// The sender's name: sealed for `SealingContext.chatSenderName`, as base64url. Absent when the sender has no name.
    public static let senderNameSealed = "sender_name_sealed"
    /// The nonce of a possession check: sealed for `SealingContext.possessionNonce`, as base64url.
    public static let nonceSealed = "nonce_sealed"
    /// The content from an app's own server (``AppContent``): sealed for `SealingContext.appContent`, as base64url.
    public static let contentSealed = "content_sealed"
    /// Present when the sealed content has a picture.
    public static let hasPicture = "has_picture"
    /// The parameters that hold users' texts and secrets; the outbox empties them in a message that all groups have handled.
    public static let sealedTexts = [textSealed, senderNameSealed, nonceSealed, contentSealed]
}
