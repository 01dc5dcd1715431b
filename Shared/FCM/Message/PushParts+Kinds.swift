internal import FoundationEssentials
internal import Push
internal import WireFormat

extension PushParts {
    /// Makes the parts of a content.
    ///
    /// - Parameter share: The fraction of its maximum length that each text may have.
    init(_ content: PushContent, _ sources: PushSources, share: Double) throws {
        self.share = share
        subject = content.push.subject ?? ""
        channelID = content.kind.type.channelID
        switch content {
        case .jobCompleted(let push): complete(push, picture: push.thumbnailKey.flatMap(sources.link))
        case .jobFailed(let push):
            let reason = cut(push.reason, PushTexts.maxReasonCharacters)
            title = "Processing Failed"
            body = "Unable to process your image: \(reason)"
            data = ["type": "job_failed", "jobId": push.jobID.wireString, "error": reason]
            hasSound = true
        case .signUp(let push):
            ekyc(push, title: "eKYC Sign Up")
            body = PushTexts.signUpBody(succeeded: push.succeeded)
        case .signIn(let push):
            ekyc(push, title: "eKYC Sign In")
            body = PushTexts.signInBody(succeeded: push.succeeded)
        case .newPhotos(let push): newPhotos(push, picture: push.thumbnailKey.flatMap(sources.link))
        case .chatMessage(let push):
            title = cut(try push.senderName.map(sources.open) ?? PushTexts.hiddenMessage, PushTexts.maxNameCharacters)
            body = try push.text.map { cut(try sources.open($0), PushTexts.maxPreviewCharacters) } ?? PushTexts.hiddenMessage
            data = ["conversationId": push.conversation.id, "senderId": push.senderID.wireString, "message": body]
            threadID = push.conversation.id
        case .invitation(let push):
            title = "Invitation"
            body = PushTexts.invitationBody(to: push.topic)
            data = ["type": "invitation", "topic": push.topic.text]
            isQuiet = true
        case .accountAlert(let push):
            (title, body) = PushTexts.accountAlert(push.alert)
            data = ["type": "account_alert", "alert": push.alert.rawValue]
            hasSound = true
        case .signInConfirmation(let push):
            (title, body) = (PushTexts.confirmationTitle, PushTexts.confirmationBody)
            data = ["session_id": push.sessionID.wireString]
            hasSound = true
        case .possessionCheck(let push):
            data = ["type": "possession_check", "handover_id": push.handOverID.wireString, "nonce": try sources.open(push.nonce)]
            wakesApp = true
            (isDataOnly, isAwaited) = (true, true)
        case .custom(let push):
            try custom(try sources.open(push.app), sources.notificationID.wireString)
            return
        }
        data["kind"] = content.kind.rawValue
    }

    private func cut(_ text: String, _ maxCharacters: Int) -> String {
        PushTexts.cut(text, to: max(1, Int(Double(maxCharacters) * share)))
    }

    private mutating func complete(_ push: JobCompletedPush, picture: String?) {
        let templateName = cut(push.templateName, PushTexts.maxNameCharacters)
        title = "Image Ready! 🎨"
        body = "Your \(templateName) image has been processed"
        data = ["type": "job_completed", "jobId": push.jobID.wireString, "templateName": templateName]
        hasSound = true
        wakesApp = true
        category = "IMAGE_COMPLETE"
        image = picture.flatMap(PushImage.usable)
        runsExtension = image != nil
    }

    private mutating func custom(_ json: String, _ notificationID: String) throws {
        guard let content = try? JSONDecoder().decode(AppContent.self, from: Data(json.utf8)) else {
            throw FCMError(.invalidMessage, "the content cannot be read")
        }
        subject = "app:\(content.collapseKey ?? notificationID)"
        channelID = content.kind
        data = content.data.merging(["type": content.kind, "kind": content.kind, "notification_id": notificationID]) { $1 }
        guard content.isShown else {
            (isDataOnly, wakesApp) = (true, true)
            return
        }
        title = cut(content.title ?? "", PushTexts.maxNameCharacters)
        body = cut(content.body ?? "", PushTexts.maxAppBodyCharacters)
        image = content.image.flatMap(PushImage.usable)
        runsExtension = image != nil
        threadID = content.thread
        if let sound = content.sound { (hasSound, soundName) = (true, sound) }
    }

    private mutating func ekyc<Result: SessionResultPush>(_ push: Result, title: String) {
        self.title = title
        data = [
            "event": Result.kind.rawValue, "session_id": push.sessionID.wireString, "user_id": push.userID.wireString,
            "success": push.succeeded ? "true" : "false",
        ]
        hasSound = true
    }

    private mutating func newPhotos(_ push: NewPhotosPush, picture: String?) {
        title = "PhotoShare"
        body = "New photos added to your event!"
        image = picture.flatMap(PushImage.usable)
        data = ["event_id": push.topic.id, "action": "new_photos"]
        data["image_url"] = image
        runsExtension = true
        repeatsAlert = true
        hasSound = true
    }
}
