import Foundation
import Testing

@testable import MobileClient

/// Payloads that a hostile sender could make: nothing traps, and nothing exceeds a limit.
@Suite struct PushFuzzTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    private static let names = [
        "aps", "alert", "badge", "sound", "category", "kind", "type", "event", "action", "jobId", "session_id", "conversationId",
        "senderId",
        "message",
        "success", "topic", "alert", "handover_id", "nonce", "notification_id", "fcm_options", "image", "image_url", "apns", "data",
        "notification", "payload", "headers", "apns-collapse-id", "gcm.message_id", "event_id", "interruption-level", "", "😀",
    ]
    private static let texts = [
        "job_completed", "job_failed", "sign_in", "sign_up", "new_photos", "invitation", "account_alert", "possession_check", "true", "..",
        "https://a.example/x.png", "http://a.example", "https://[", "chat:::", "chat:m:", "event:", "conversation:c", "passive", "",
        "\u{0}",
        "1700000000000000", "0:9999999999999999%x", "\u{202e}abc", "-1", "9223372036854775808",
    ]

    private func value(_ depth: Int, _ random: inout Generator) -> Any {
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return Int.random(in: Int.min...Int.max, using: &random)
        case 1: return [Double.nan, .infinity, -.infinity, 1e308, -0.0, 0.5].randomElement(using: &random) ?? 0
        case 2: return Bool.random(using: &random)
        case 3: return NSNull()
        case 4: return NSNumber(value: UInt64.max)
        case 5: return Date()
        case 6: return Data([1, 2, 3])
        case 7: return String(repeating: "x", count: Int.random(in: 0...20_000, using: &random))
        case 8 where depth < 12: return (0..<Int.random(in: 0...6, using: &random)).map { _ in value(depth + 1, &random) }
        case 9 where depth < 12, 10 where depth < 12: return dictionary(depth + 1, &random)
        default: return Self.texts.randomElement(using: &random) ?? ""
        }
    }

    private func dictionary(_ depth: Int, _ random: inout Generator) -> [AnyHashable: Any] {
        var result: [AnyHashable: Any] = [:]
        for _ in 0..<Int.random(in: 0...9, using: &random) {
            let name = Self.names.randomElement(using: &random) ?? ""
            let key: AnyHashable = Int.random(in: 0..<20, using: &random) == 0 ? AnyHashable(7) : AnyHashable(name)
            result[key] = value(depth, &random)
        }
        return result
    }

    private func use(_ payload: PushPayload) {
        let message = PushMessage(payload)
        #expect(message.payload == payload)
        #expect(message.badge.map { $0 >= 0 } ?? true)
        _ = NotificationRouter.Route(message)
        _ = message.occurrence
        #expect(AttachmentPlan(message).candidates.allSatisfy { $0.scheme == "https" && $0.host?.isEmpty == false })
        let visible = message.conversationID.map { Set([$0]) } ?? []
        let shown = ForegroundPolicy.presentation(of: message, visible: visible, isRepetition: false)
        #expect(message.conversationID == nil || shown == .nothing)
        if let receipt = PushReceipt(message, .opened, at: 1) {
            #expect(receipt.key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") })
        }
    }

    private func depth(_ value: PushPayload.Value) -> Int {
        switch value {
        case .object(let members): 1 + (members.values.map(depth).max() ?? 0)
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        default: 1
        }
    }

    @Test func `random dictionaries are read without a trap`() {
        var random = Generator(state: 19)
        for _ in 0..<3_000 {
            let payload = PushPayload(userInfo: dictionary(0, &random), identifier: Self.texts.randomElement(using: &random))
            use(payload)
            #expect(depth(.object(payload.values)) <= PushPayload.maxDepth + 2)
        }
    }

    @Test func `pushes whose members are exchanged are read without a trap`() throws {
        var random = Generator(state: 20)
        let payloads = try PushSamples.fixtures().sorted { $0.key < $1.key }.map(\.value)
        for _ in 0..<2_000 {
            var values = payloads.randomElement(using: &random)?.values ?? [:]
            for (name, other) in payloads.randomElement(using: &random)?.values ?? [:] where Bool.random(using: &random) {
                values[name] = other
            }
            if let name = values.keys.sorted().randomElement(using: &random) { values[name] = .array([.null, .bool(true)]) }
            use(PushPayload(values: values, identifier: Self.texts.randomElement(using: &random)))
        }
    }

    @Test func `random bytes are no JSON, or are read without a trap`() {
        var random = Generator(state: 21)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                #"{}[]":,0123456789eE+-.truefalsn\u"#.utf8.randomElement(using: &random) ?? 0
            }
            if let payload = PushPayload(json: Data(bytes)) { use(payload) }
        }
        #expect(PushPayload(json: Data(String(repeating: "[", count: 100_000).utf8)) == nil)
        if let deep = PushPayload(json: Data((String(repeating: #"{"a":"#, count: 400) + "1" + String(repeating: "}", count: 400)).utf8)) {
            #expect(depth(.object(deep.values)) <= PushPayload.maxDepth + 2)
        }
    }

    @Test func `more values than a push can have are left out`() {
        let many = Dictionary(uniqueKeysWithValues: (0..<5_000).map { ("n\($0)", "x") })
        #expect(PushPayload(data: many).values.count == PushPayload.maxValues)
        #expect(PushPayload(userInfo: ["a": String(repeating: "x", count: 8_193)]).values.isEmpty)
    }
}
