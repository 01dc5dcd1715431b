import JSON

/// Checks the part of a message that is Apple's: headers, and the `aps` dictionary.
enum ApnsValidator {
    private static let pushTypes: Set = [
        "alert", "background", "liveactivity", "location", "voip", "complication", "fileprovider", "mdm",
    ]
    private static let interruptionLevels: Set = ["passive", "active", "time-sensitive", "critical"]

    static func check(_ apns: JSONValue?) throws(FCMRefusal) {
        guard let apns else { return }
        try MessageValidator.checkImage(apns["fcm_options"]?["image"], field: "message.apns.fcm_options.image")
        let aps = apns["payload"]?["aps"]
        try checkHeaders(apns["headers"]?.strings ?? [:], aps: aps)
        guard let aps else { return }
        guard aps.members != nil else { throw refusal("aps", "must be a dictionary") }
        try checkAlert(aps)
        try checkSound(aps["sound"])
        if let badge = aps["badge"], badge.integer.map({ $0 >= 0 }) != true {
            throw refusal("aps.badge", "must be a non-negative integer")
        }
        for flag in ["content-available", "mutable-content"] {
            if let value = aps[flag], value.integer != 0, value.integer != 1 { throw refusal("aps.\(flag)", "must be 0 or 1") }
        }
        for text in ["category", "thread-id", "target-content-id", "filter-criteria"] {
            if let value = aps[text], value.string == nil { throw refusal("aps.\(text)", "must be a string") }
        }
        if let level = aps["interruption-level"], level.string.map(interruptionLevels.contains) != true {
            throw refusal("aps.interruption-level", "is unknown")
        }
        if let score = aps["relevance-score"], score.double == nil { throw refusal("aps.relevance-score", "must be a number") }
    }

    private static func checkHeaders(_ headers: [String: String], aps: JSONValue?) throws(FCMRefusal) {
        let byName = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
        func refuse(_ header: String, _ why: String) -> FCMRefusal {
            .invalidField("message.apns.headers.\(header)", "\(header) \(why).")
        }
        if let priority = byName["apns-priority"], !["10", "5", "1"].contains(priority) {
            throw refuse("apns-priority", "must be 10, 5 or 1")
        }
        if let type = byName["apns-push-type"], !pushTypes.contains(type) {
            throw refuse("apns-push-type", "is unknown")
        }
        if byName["apns-push-type"] == "background" {
            if byName["apns-priority"] != "5" { throw refuse("apns-priority", "must be 5 for a background push") }
            if aps?["alert"] != nil || aps?["sound"] != nil || aps?["badge"] != nil {
                throw refuse("apns-push-type", "is background, but the push has an alert, a sound or a badge")
            }
        }
        if let id = byName["apns-collapse-id"], !(1...64).contains(id.utf8.count) {
            throw refuse("apns-collapse-id", "must have 1 to 64 bytes")
        }
        if let expiration = byName["apns-expiration"], Int(expiration).map({ $0 >= 0 }) != true {
            throw refuse("apns-expiration", "must be seconds since 1970")
        }
    }

    private static func checkAlert(_ aps: JSONValue) throws(FCMRefusal) {
        guard let alert = aps["alert"], alert.string == nil else { return }
        guard alert.members != nil else { throw refusal("aps.alert", "must be a string or a dictionary") }
        for text in ["title", "subtitle", "body", "launch-image", "title-loc-key", "loc-key"] {
            if let value = alert[text], value.string == nil { throw refusal("aps.alert.\(text)", "must be a string") }
        }
        for (arguments, key) in [("title-loc-args", "title-loc-key"), ("loc-args", "loc-key")] {
            if alert[arguments] != nil, alert[key] == nil { throw refusal("aps.alert.\(arguments)", "needs a \(key)") }
        }
    }

    private static func checkSound(_ sound: JSONValue?) throws(FCMRefusal) {
        guard let sound, sound.string == nil else { return }
        guard sound.members != nil, sound["name"]?.string != nil else {
            throw refusal("aps.sound", "must be a string or a dictionary with a name")
        }
        if let volume = sound["volume"]?.double, !(0...1).contains(volume) {
            throw refusal("aps.sound.volume", "must be between 0 and 1")
        }
    }

    private static func refusal(_ key: String, _ why: String) -> FCMRefusal {
        .invalidField("message.apns.payload.\(key)", "\(key) \(why).")
    }
}
