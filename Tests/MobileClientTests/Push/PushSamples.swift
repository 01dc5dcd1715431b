import Foundation

@testable import MobileClient

/// Pushes of all kinds, as an iPhone gets them.
enum PushSamples {
    static let job = "0195f3a0-1b2c-7d3e-8f40-5162738495a6"
    static let session = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"

    static func jobCompleted(_ id: String = job, badge: Int? = 3, messageID: String? = nil) -> PushPayload {
        push(
            ["kind": "job_completed", "type": "job_completed", "jobId": id, "templateName": "Oil Painting"], title: "Image Ready! 🎨",
            badge: badge,
            identifier: "job:\(id)", messageID: messageID)
    }

    static func jobFailed(_ id: String = job) -> PushPayload {
        push(
            ["kind": "job_failed", "type": "job_failed", "jobId": id, "error": "blurred"], title: "Processing Failed", badge: 1,
            identifier: "job:\(id)")
    }

    static func chat(_ conversation: String = "c-9", message: String = "m-77", badge: Int? = 12) -> PushPayload {
        push(
            ["kind": "chat_message", "conversationId": conversation, "senderId": "u-5", "message": "Hi"], title: "Zoë", sound: nil,
            badge: badge,
            identifier: "chat:\(message):nN4f2Z9itL")
    }

    static func signIn(_ session: String = session, success: String = "true") -> PushPayload {
        push(
            ["kind": "sign_in", "event": "sign_in", "session_id": session, "user_id": job, "success": success], title: "eKYC Sign In",
            identifier: "ekyc:\(session)")
    }

    static func newPhotos(image: String? = "https://cdn.example.org/t/5f0c.jpg", messageID: String? = nil) -> PushPayload {
        push(
            ["kind": "new_photos", "event_id": "42", "action": "new_photos"].merging(image.map { ["image_url": $0] } ?? [:]) { $1 },
            title: "PhotoShare",
            badge: 7,
            identifier: "event:42", image: image, messageID: messageID)
    }

    static let possessionCheck = PushPayload(userInfo: [
        "aps": ["content-available": 1], "kind": "possession_check", "type": "possession_check", "handover_id": session,
        "nonce": "Zm9vYmFy",
    ])

    static func push(
        _ data: [String: String], title: String?, sound: String? = "default", badge: Int? = nil, identifier: String? = nil,
        image: String? = nil, messageID: String? = nil, deliveredAt: Double? = nil
    ) -> PushPayload {
        var aps: [String: Any] = [:]
        if let title { aps["alert"] = ["title": title, "body": "Text"] }
        aps["sound"] = sound
        aps["badge"] = badge
        var info: [AnyHashable: Any] = ["aps": aps]
        for (name, value) in data { info[name] = value }
        if let image { info["fcm_options"] = ["image": image] }
        if let messageID { info["gcm.message_id"] = messageID }
        return PushPayload(userInfo: info, identifier: identifier, deliveredAt: deliveredAt)
    }

    /// The checkout's root. The tests of some packages are reached by a symbolic link.
    static let root = {
        var folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        while folder.lastPathComponent != "Tests" { folder.deleteLastPathComponent() }
        return folder.deletingLastPathComponent()
    }()

    /// The messages that the notifier sends, as FCM gets them, by the names of their files.
    static func fixtures() throws -> [String: PushPayload] {
        let folder = root.appending(path: "Tests/ContractTests/Fixtures/fcm")
        var payloads: [String: PushPayload] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasSuffix(".json") {
            payloads[name] = PushPayload(json: try Data(contentsOf: folder.appending(path: name)))
        }
        return payloads
    }
}
