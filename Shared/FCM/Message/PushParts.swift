internal import JSON
internal import Push

/// The parts of a push that depend on its kind: the texts, the data and Apple's `aps` dictionary.
struct PushParts {
    /// The subject: a later push with the same subject replaces this one. Its length is not limited yet.
    var subject = ""
    /// Android's notification channel; nil for a push that shows nothing.
    var channelID: String?
    var title = ""
    var body = ""
    var data: [String: String] = [:]
    var image: String?
    /// Whether `aps` repeats the text of the notification.
    var repeatsAlert = false
    var category: String?
    var wakesApp = false
    var runsExtension = false
    var hasSound = false
    /// Whether the push has no visible notification, because it is for the app only.
    var isDataOnly = false
    /// Whether an app waits for this push without a visible notification.
    var isAwaited = false
    var soundName = "default"
    /// Whether the phone may show the push later, without sound and without lighting the screen.
    var isQuiet = false
    var threadID: String?
    /// The fraction of its maximum length that each text may have.
    let share: Double

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
