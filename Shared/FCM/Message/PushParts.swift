internal import JSON
internal import WireFormat

/// The parts of a push that depend on its kind: the texts, the data and Apple's `aps` dictionary.
struct PushParts {
    var title = ""
    var body = ""
    var data: [String: String] = [:]
    var image: String?
    /// Whether `aps` repeats the text of the notification.
    private var repeatsAlert = false
    private var category: String?
    private var wakesApp = false
    private var runsExtension = false
    private var hasSound = false
    /// Whether the push has no visible notification, because it is for the app only.
    private(set) var isDataOnly = false
    /// Whether an app waits for this push without a visible notification.
    private(set) var isAwaited = false
    private var soundName = "default"
    /// Whether the phone may show the push later, without sound and without lighting the screen.
    private(set) var isQuiet = false
    private var threadID: String?
    /// The fraction of its maximum length that each text may have.
    private let share: Double

    /// The alert of `aps`, as a member with its name; empty when FCM derives it from the notification.
    var alert: [UInt8] { repeatsAlert ? JSONWriter.bytes { $0.object("alert", writeTexts) } : [] }

    /// Returns the members of `aps` that follow `badge` in alphabetical order, without braces.
    func apsRest(isSilent: Bool) -> [UInt8] {
        JSONWriter.bytes { writer in
            writer.member("category", category)
            if wakesApp { writer.member("content-available", 1) }
            if isQuiet { writer.member("interruption-level", "passive") }
            if runsExtension { writer.member("mutable-content", 1) }
            if hasSound, !isSilent { writer.member("sound", soundName) }
            writer.member("thread-id", threadID)
        }
    }

    /// Writes the members of the notification and of Apple's alert that are shown.
    func writeTexts(to writer: inout JSONWriter) {
        if !body.isEmpty { writer.member("body", body) }
        if !title.isEmpty { writer.member("title", title) }
    }

    /// Writes the members of the data.
    func writeData(to writer: inout JSONWriter) {
        for (name, value) in data.sorted(by: { $0.key < $1.key }) { writer.member(name, value) }
    }

    /// Writes the picture for Apple's extension, if the push has a picture.
    func writeOptions(to writer: inout JSONWriter) {
        if let image { writer.object("fcm_options") { $0.member("image", image) } }
    }

    private init(_ content: PushContent, share: Double) {
        self.share = share
        switch content {
        case .jobCompleted(let jobID, let templateName, let thumbnailURL):
            complete(jobID, templateName: cut(templateName, PushTexts.maxNameCharacters), thumbnailURL: thumbnailURL)
        case .jobFailed(let jobID, let reason):
            let reason = cut(reason, PushTexts.maxReasonCharacters)
            title = "Processing Failed"
            body = "Unable to process your image: \(reason)"
            data = ["type": "job_failed", "jobId": jobID, "error": reason]
            hasSound = true
        case .signUp(let sessionID, let userID, let succeeded):
            ekyc("sign_up", title: "eKYC Sign Up", sessionID, userID, succeeded)
            body = PushTexts.signUpBody(succeeded: succeeded)
        case .signIn(let sessionID, let userID, let succeeded):
            ekyc("sign_in", title: "eKYC Sign In", sessionID, userID, succeeded)
            body = PushTexts.signInBody(succeeded: succeeded)
        case .newPhotos(let eventID, let imageURL): newPhotos(eventID, imageURL: imageURL)
        case .chatMessage(let conversationID, _, let senderID, let senderName, let text, let isSensitive):
            title = cut(senderName, PushTexts.maxNameCharacters)
            body = isSensitive ? PushTexts.hiddenMessage : cut(text, PushTexts.maxPreviewCharacters)
            data = ["conversationId": conversationID, "senderId": senderID, "message": body]
            threadID = conversationID
        case .invitation(let topic):
            title = "Invitation"
            body = PushTexts.invitationBody(topic: topic)
            data = ["type": "invitation", "topic": topic]
            isQuiet = true
        case .accountAlert(_, let alert):
            (title, body) = PushTexts.accountAlert(alert)
            data = ["type": "account_alert", "alert": alert.rawValue]
            hasSound = true
        case .possessionCheck(let handOverID, let nonce):
            data = ["type": "possession_check", "handover_id": handOverID, "nonce": nonce]
            wakesApp = true
            (isDataOnly, isAwaited) = (true, true)
        case .custom(let content, let notificationID): custom(content, notificationID)
        }
        data["kind"] = content.kind
    }

    private func cut(_ text: String, _ maxCharacters: Int) -> String {
        PushTexts.cut(text, to: max(1, Int(Double(maxCharacters) * share)))
    }

    private mutating func complete(_ jobID: String, templateName: String, thumbnailURL: String?) {
        title = "Image Ready! 🎨"
        body = "Your \(templateName) image has been processed"
        data = ["type": "job_completed", "jobId": jobID, "templateName": templateName]
        hasSound = true
        wakesApp = true
        category = "IMAGE_COMPLETE"
        image = thumbnailURL.flatMap(PushImage.usable)
        runsExtension = image != nil
    }

    private mutating func custom(_ content: AppContent, _ notificationID: String) {
        data = content.data.merging(["type": content.kind, "notification_id": notificationID]) { $1 }
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

    private mutating func ekyc(
        _ event: String, title: String, _ sessionID: String, _ userID: String, _ succeeded: Bool
    ) {
        self.title = title
        data = [
            "event": event, "session_id": sessionID, "user_id": userID, "success": succeeded ? "true" : "false",
        ]
        hasSound = true
    }

    private mutating func newPhotos(_ eventID: String, imageURL: String?) {
        title = "PhotoShare"
        body = "New photos added to your event!"
        image = imageURL.flatMap(PushImage.usable)
        data = ["event_id": eventID, "action": "new_photos"]
        data["image_url"] = image
        runsExtension = true
        repeatsAlert = true
        hasSound = true
    }
}

extension PushParts {
    /// FCM's documented limit of a message to one device, in bytes of text and data.
    static let maxByteCount = 4096
    /// The most bytes of the JSON that reaches an Apple device; the limit is 4096, and FCM's own keys need the rest.
    static let maxAPNsByteCount = 3800
    /// The fractions of the texts' maximum lengths, tried in this order until the message fits.
    private static let shares = [1, 0.75, 0.5, 0.25, 0.1, 0.02]

    /// Makes the parts of a content, with its texts cut so that the message fits; ids are never cut.
    ///
    /// - Throws: `invalidMessage` when the message is too big even with the shortest texts.
    static func fitting(_ content: PushContent) throws(FCMError) -> PushParts {
        for share in shares {
            let parts = PushParts(content, share: share)
            if parts.byteCount <= maxByteCount, parts.apnsByteCount <= maxAPNsByteCount { return parts }
        }
        throw FCMError(.invalidMessage, "the message exceeds \(maxByteCount) bytes even with its texts cut")
    }

    /// The bytes that FCM counts: keys and values of the data, texts and image URL.
    private var byteCount: Int {
        data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } + title.utf8.count + body.utf8.count
            + (image?.utf8.count ?? 0)
    }

    /// The size of the payload that FCM builds for Apple: `aps` with the alert and a badge, and the data beside it.
    private var apnsByteCount: Int {
        let payload = JSONWriter.bytes { writer in
            writer.object { writer in
                writer.object("aps") { writer in
                    writer.object("alert", writeTexts)
                    writer.member("badge", 1_000_000)
                }
                writer.object("data", writeData)
                writeOptions(to: &writer)
            }
        }
        let rest = apsRest(isSilent: false)
        return payload.count + rest.count + (rest.isEmpty ? 0 : 1)
    }
}
