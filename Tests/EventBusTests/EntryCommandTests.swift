import Foundation
import Testing
import WireFormat

@testable import EventBus
@testable import RedisClient

@Suite("The command that appends an entry")
struct EntryCommandTests {
    private func envelope(_ traceparent: String?, _ requestID: String?, _ expiresAt: Date?) throws -> EncodedEnvelope {
        try EncodedEnvelope(
            id: UUID(), type: .ekycRequested, version: 12, key: "ü", occurredAt: Date(), traceparent: traceparent, requestID: requestID,
            expiresAt: expiresAt, body: Array("{}".utf8))
    }

    @Test(
        arguments: [(nil, nil, nil), ("00-a-b-01", nil, nil), (nil, "req-7", nil), ("00-a-b-01", "req-7", Date())]
            as [(String?, String?, Date?)])
    func `has the fields of its message`(traceparent: String?, requestID: String?, expiresAt: Date?) throws {
        let envelope = try envelope(traceparent, requestID, expiresAt)
        var list = RedisCommandList(count: 1, capacity: 0)
        list.xadd("key", OutgoingEntry(stream: "s", envelope: envelope))
        list.xadd("key", OutgoingEntry(stream: "s", fields: envelope.streamFields))
        let fields = envelope.streamFields.flatMap { [$0.name, $0.value] as [any RedisArgument] }
        let expected = RedisCommand("XADD", arguments: ["key", "*"] + fields).withBytes { Array($0) }
        #expect(list.finish().map { $0.withBytes { Array($0) } } == [expected, expected])
    }
}
