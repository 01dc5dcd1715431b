public import FoundationEssentials
public import JSON
public import WireFormat

/// A push that shows nothing: the app returns its nonce, and so proves that it receives the pushes to its installation.
public struct PossessionCheckPush: PushAboutThing {
    /// `possession_check`.
    public static var kind: NotificationKind { .possessionCheck }
    /// `possession`.
    public static var keyPrefix: String { "possession" }
    /// None, because it shows nothing.
    public static var channelID: String? { nil }
    /// Nothing is unseen.
    public static var hasBadge: Bool { false }

    /// The hand-over that the nonce confirms.
    public var handOverID: UUID
    /// The nonce.
    public var nonce: SealedText

    /// Describes the check of a hand-over.
    public init(handOverID: UUID, nonce: SealedText) {
        self.handOverID = handOverID
        self.nonce = nonce
    }

    /// Makes the request for the push. Publish it in the transaction of the claim.
    ///
    /// - Parameters:
    ///   - notificationID: The notification that the nonce is sealed for.
    ///   - installID: The claimed installation (`push_installs.id`).
    ///   - expiresAt: The end of the claim.
    public func request(_ notificationID: UUID, to installID: UUID, expiresAt: Date) -> NotificationRequested {
        NotificationRequested(
            notificationID: notificationID, dedupeKey: Self.dedupeKey(about: handOverID), content: content,
            recipient: .installation(installID), lane: .urgent, expiresAt: expiresAt)
    }

    /// `PushContent.possessionCheck`.
    public var content: PushContent { .possessionCheck(self) }
    /// The hand-over.
    public var subject: String? { "possession:\(handOverID.wireString)" }

    /// Reads `handover_id` and `nonce`.
    public init(from body: BodyReader) throws(BodyFault) {
        handOverID = try body.read("handover_id")
        nonce = try body.read("nonce", sealedFor: .possessionNonce)
    }

    /// Writes `handover_id` and `nonce`.
    public func writeMembers(to body: inout JSONWriter) {
        body.member("handover_id", handOverID)
        body.member("nonce", nonce)
    }
}
