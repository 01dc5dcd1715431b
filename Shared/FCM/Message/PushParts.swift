internal import FoundationEssentials
internal import JSON
internal import Push
internal import WireFormat

/// The parts of a push that depend on its kind: the texts, the data and Apple's `aps` dictionary.
struct PushParts {
    /// The subject: a later push with the same subject replaces this one. Its length is not limited yet.
    private(set) var subject = ""
    /// Android's notification channel; nil for a push that shows nothing.
    private(set) var channelID: String?
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

    private init(_ content: PushContent, _ sources: PushSources, share: Double) throws {
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

extension PushParts {
    /// FCM's documented limit of a message to one device, in bytes of text and data.
    static let maxByteCount = 4096
    /// The most bytes of the JSON that reaches an Apple device; the limit is 4096, and FCM's own keys need the rest.
    static let maxAPNsByteCount = 3800
    /// The fractions of the texts' maximum lengths, tried in this order until the message fits.
    private static let shares = [1, 0.75, 0.5, 0.25, 0.1, 0.02]

    /// Makes the parts of a content, with its texts cut so that the message fits; ids are never cut.
    ///
    /// - Throws: `invalidMessage` when the message is too big even with the shortest texts, or the content of an app cannot be read; the
    ///   errors of ``PushSources/open``.
    static func fitting(_ content: PushContent, _ sources: PushSources) throws -> PushParts {
        for share in shares {
            let parts = try PushParts(content, sources, share: share)
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
