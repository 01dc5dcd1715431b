import Foundation
import JSON
import Testing

@testable import WireFormat

/// Bodies are encoded by this module, and other programs write them with libraries of their own: both have to write the same.
@Suite("Encoding a body")
struct BodyEncodingTests {
    private static let foundation: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.millisecondsSince1970)
        }
        return encoder
    }()

    private func expectAgreement(_ value: some Encodable) throws {
        let encoder = BodyEncoder()
        try encoder.encode(value)
        let written = String(decoding: encoder.json.bytes, as: UTF8.self)
        #expect(written == String(decoding: try Self.foundation.encode(value), as: UTF8.self))
    }

    @Test(arguments: [
        "", "a", "é ✓ 👩‍👩‍👧", "\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}", String(repeating: "long ", count: 500),
    ])
    func `agrees with Foundation on a text`(text: String) throws {
        try expectAgreement([text])
        try expectAgreement(["key": text])
        try expectAgreement(
            NotificationRequested(
                notificationID: UUID(), dedupeKey: text, kind: .custom, recipient: NotificationRecipient(type: .user, id: text),
                lane: .bulk,
                parameters: ["key": text, "b": "2", "a": "1"], expiresAt: Date(millisecondsSince1970: 1_761_559_200_125)))
    }

    @Test func `agrees with Foundation on lists, and leaves out what is nil`() throws {
        let outcomes = [
            SettledDelivery(
                deliveryID: UUID(), installationID: UUID(), outcome: .dead, sentAt: Date(millisecondsSince1970: 1_761_559_200_125)),
            SettledDelivery(deliveryID: UUID(), installationID: UUID(), outcome: .failed, code: "UNAVAILABLE"),
        ]
        try expectAgreement(NotificationSettled(notificationID: UUID(), outcomes: outcomes))
        try expectAgreement(NotificationSettled(notificationID: UUID(), outcomes: [], acceptedCount: 7))
        try expectAgreement(ImageProgress(jobID: UUID(), state: .processing, percent: 42))
        try expectAgreement(EkycCompleted(sessionID: UUID(), event: .signIn, succeeded: true))
    }

    @Test func `agrees with Foundation on values of every type`() throws {
        try expectAgreement(Values())
        try expectAgreement([Values(), Values()])
    }

    @Test func `agrees with Foundation on containers that a type opens by itself`() throws {
        try expectAgreement(Nested(depth: 3))
        try expectAgreement([Nested(depth: 2)])
    }

    @Test func `refuses a number that JSON cannot express`() {
        #expect(throws: EncodingError.self) { try BodyEncoder().encode(["a": Double.nan]) }
        #expect(throws: EncodingError.self) { try BodyEncoder().encode([Float.infinity]) }
    }
}

private struct Values: Encodable {
    private enum Key: String, CodingKey, CaseIterable { case z, b, a, m, date, list, float, int8, u64, i64, null, texts }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1.5, forKey: .z)
        try container.encode(3.0, forKey: .b)
        try container.encode(true, forKey: .a)
        try container.encode(-7, forKey: .m)
        try container.encode(Date(millisecondsSince1970: 5), forKey: .date)
        try container.encode([[1, 2], []], forKey: .list)
        try container.encode(Float(0.25), forKey: .float)
        try container.encode(Int8.min, forKey: .int8)
        try container.encode(UInt64.max, forKey: .u64)
        try container.encode(Int64.min, forKey: .i64)
        try container.encodeNil(forKey: .null)
        try container.encode(["y": "1", "x": "2"], forKey: .texts)
    }
}

private struct Nested: Encodable {
    let depth: Int
    private enum Key: String, CodingKey { case object, array, parent, value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var object = container.nestedContainer(keyedBy: Key.self, forKey: .object)
        var array = container.nestedUnkeyedContainer(forKey: .array)
        try container.encode("before", forKey: .value)
        try object.encode(depth, forKey: .value)
        try array.encode("a")
        try array.encodeNil()
        var inner = array.nestedContainer(keyedBy: Key.self)
        try inner.encode(UInt8.max, forKey: .value)
        var list = array.nestedUnkeyedContainer()
        try list.encode(Int16.min)
        try list.encode(UInt32.max)
        if depth > 0 { try Nested(depth: depth - 1).encode(to: container.superEncoder(forKey: .parent)) }
    }
}
