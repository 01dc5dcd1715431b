public import FoundationEssentials
internal import HeliographCrypto

extension FCMMessage {
    /// The longest `apns-collapse-id`, in bytes.
    static let collapseIDByteCountMax = 64
    /// The longest a message may wait for a device, in seconds: four weeks.
    static let timeToLiveSecondsMax = 2_419_200

    /// Builds the push of a content for one device.
    ///
    /// A push replaces an earlier one about the same subject on the device, so that sending it again, which a lost
    /// answer makes necessary, shows it once.
    ///
    /// - Parameters:
    ///   - expiresAt: after this time the push is not worth showing.
    ///   - now: the time the message is sent.
    /// - Throws: `invalidMessage` when it is too big for FCM.
    public init(_ content: PushContent, to target: FCMTarget, expiresAt: Date, now: Date) throws(FCMError) {
        let parts = Parts(content)
        let subject = Self.collapseID(content.subject)
        let seconds = max(0, min(Self.timeToLiveSecondsMax, Int(expiresAt.timeIntervalSince(now))))
        self.target = target
        notification = Notification(title: parts.title, body: parts.body)
        data = parts.data
        android = Android(ttl: "\(seconds)s", notification: .init(tag: subject, image: parts.image))
        apns = APNS(
            headers: [
                "apns-priority": "10", "apns-push-type": "alert", "apns-collapse-id": subject,
                "apns-expiration": "\(Int(now.timeIntervalSince1970) + seconds)",
            ], payload: .init(aps: parts.aps), options: parts.image.map { APNS.Options(image: $0) })
        try checkSize()
    }

    /// A subject of at most 64 bytes is its own id; a longer one is hashed.
    private static func collapseID(_ subject: String) -> String {
        subject.utf8.count <= collapseIDByteCountMax ? subject : Base64URL.encode(SHA256.hash(subject))
    }

    /// What differs from kind to kind.
    private struct Parts {
        var title = ""
        var body = ""
        var data: [String: String] = [:]
        var aps = APS()
        var image: String?

        init(_ content: PushContent) {
            switch content {
            case .jobCompleted(let jobID, let templateName, let thumbnailURL, let badge):
                complete(jobID, templateName: templateName, thumbnailURL: thumbnailURL, badge: badge)
            case .jobFailed(let jobID, let reason, let badge):
                let reason = PushTexts.cut(reason, to: PushTexts.reasonCharactersMax)
                title = "Processing Failed"
                body = "Unable to process your image: \(reason)"
                data = ["type": "job_failed", "jobId": jobID, "error": reason]
                aps.sound = "default"
                aps.badge = badge
            case .signUp(let sessionID, let userID, let succeeded):
                ekyc("sign_up", title: "eKYC Sign Up", sessionID, userID, succeeded)
                body = PushTexts.signUpBody(succeeded: succeeded)
            case .signIn(let sessionID, let userID, let succeeded):
                ekyc("sign_in", title: "eKYC Sign In", sessionID, userID, succeeded)
                body = PushTexts.signInBody(succeeded: succeeded)
            case .newPhotos(let eventID, let imageURL, let badge):
                newPhotos(eventID, imageURL: imageURL, badge: badge)
            case .chatMessage(let conversationID, _, let senderID, let senderName, let text, let isSensitive, let badge):
                title = PushTexts.cut(senderName, to: PushTexts.nameCharactersMax)
                body = isSensitive ? PushTexts.hiddenMessage : PushTexts.cut(text, to: PushTexts.previewCharactersMax)
                data = ["conversationId": conversationID, "senderId": senderID, "message": body]
                aps.badge = badge
                aps.threadID = conversationID
            }
        }

        private mutating func complete(
            _ jobID: String, templateName: String, thumbnailURL: String?, badge: Int?
        ) {
            let templateName = PushTexts.cut(templateName, to: PushTexts.nameCharactersMax)
            title = "Image Ready! 🎨"
            body = "Your \(templateName) image has been processed"
            data = ["type": "job_completed", "jobId": jobID, "templateName": templateName]
            aps.sound = "default"
            aps.badge = badge
            aps.contentAvailable = 1
            aps.category = "IMAGE_COMPLETE"
            image = thumbnailURL.flatMap(PushImage.usable)
            aps.mutableContent = image == nil ? nil : 1
        }

        private mutating func ekyc(
            _ event: String, title: String, _ sessionID: String, _ userID: String, _ succeeded: Bool
        ) {
            self.title = title
            data = [
                "event": event, "session_id": sessionID, "user_id": userID, "success": succeeded ? "true" : "false",
            ]
            aps.sound = "default"
        }

        private mutating func newPhotos(_ eventID: String, imageURL: String?, badge: Int?) {
            title = "PhotoShare"
            body = "New photos added to your event!"
            image = imageURL.flatMap(PushImage.usable)
            data = ["event_id": eventID, "action": "new_photos"]
            data["image_url"] = image
            aps.mutableContent = 1
            aps.alert = .init(title: title, body: body)
            aps.badge = badge
            aps.sound = "default"
        }
    }
}
