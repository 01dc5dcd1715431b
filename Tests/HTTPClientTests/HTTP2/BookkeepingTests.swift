import AsyncPrimitives
import Testing

@testable import HTTPClient

/// Tests of the parts that need no server.
@Suite struct BookkeepingTests {
    @Test func `an element is found by its slot until it is removed`() {
        var table = SlotTable<String>()
        let (first, second) = (table.insert("a"), table.insert("b"))
        #expect(table[first] == "a")
        #expect(table.remove(first) == "a")
        #expect(table[first] == nil)
        #expect(table[second] == "b")
        #expect(table.count == 1)
    }

    @Test func `a slot is reused, and removed once`() {
        var table = SlotTable<String>()
        let slot = table.insert("a")
        table.remove(slot)
        #expect(table.remove(slot) == nil)
        #expect(table.insert("b") == slot)
        #expect(table.insert("c") != slot)
        #expect(table.elements.sorted() == ["b", "c"])
    }

    @Test func `a slot that was never used has no element`() {
        #expect(SlotTable<String>()[7] == nil)
    }

    @Test func `delays between attempts grow to a limit and are reset by a success`() {
        var reconnectBackoff = ReconnectBackoff()
        let now = ContinuousClock.now
        #expect(reconnectBackoff.isDue(now: now))
        for _ in 0..<10 { reconnectBackoff.failed(now: now) }
        #expect(!reconnectBackoff.isDue(now: now + ReconnectBackoff.backoff.max * 0.7))
        #expect(reconnectBackoff.isDue(now: now + ReconnectBackoff.backoff.max))
        reconnectBackoff.succeeded()
        reconnectBackoff.failed(now: now)
        #expect(reconnectBackoff.isDue(now: now + ReconnectBackoff.backoff.min))
    }

    @Test func `missing SETTINGS are reported in time, and the end of the lifetime once`() {
        var configuration = HTTP2ClientConfiguration()
        (configuration.connectTimeout, configuration.connectionLifetime) = (.seconds(5), .seconds(100))
        let now = ContinuousClock.now
        var clock = ConnectionClock(configuration, now: now)
        #expect(clock.next == now + .seconds(5))
        #expect(clock.due(now: now + .seconds(4)) == .nothing)
        #expect(clock.due(now: now + .seconds(5)) == .settingsOverdue)
        clock.settingsReceived(now: now)
        #expect(clock.due(now: now + .seconds(74)) == .nothing)
        #expect(clock.due(now: now + .seconds(125)) == .old)
        #expect(clock.due(now: now + .seconds(125)) == .nothing)
        #expect(clock.next == nil)
    }

    private func clock(_ now: ContinuousClock.Instant) -> ConnectionClock {
        var configuration = HTTP2ClientConfiguration()
        configuration.unacknowledgedTimeout = .seconds(10)
        var clock = ConnectionClock(configuration, now: now)
        clock.settingsReceived(now: now)
        return clock
    }

    @Test func `a server with outstanding responses is pinged once, and reported as silent after twice the time`() {
        let now = ContinuousClock.now
        var clock = clock(now)
        #expect(clock.due(now: now + .seconds(60)) == .nothing)
        clock.requestBegan(now: now)
        #expect(clock.next == now + .seconds(5))
        #expect(clock.due(now: now + .seconds(5)) == .ping)
        #expect(clock.due(now: now + .seconds(6)) == .nothing)
        #expect(clock.next == now + .seconds(10))
        #expect(clock.due(now: now + .seconds(10)) == .silent)
        clock.bytesReceived(now: now + .seconds(10), isBusy: true)
        #expect(clock.due(now: now + .seconds(15)) == .ping)
    }

    @Test func `a silence goes on over calls that end without an answer, and ends with the first byte`() {
        let now = ContinuousClock.now
        var clock = clock(now)
        for second in 0..<10 { clock.requestBegan(now: now + .seconds(second)) }
        #expect(clock.due(now: now + .seconds(9)) == .ping)
        #expect(clock.due(now: now + .seconds(10)) == .silent)
        clock.bytesReceived(now: now + .seconds(10), isBusy: false)
        #expect(clock.due(now: now + .seconds(60)) == .nothing)
    }

    @Test func `output keeps its place until it is written`() {
        var output = OutputBuffer()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        bytes.withUnsafeBytes { output.append($0) }
        // An #expect cannot capture the noncopyable buffer.
        let before = (output.isFull, output.offeredByteCount)
        #expect(before == (true, 0))
        let whole = Array(output.offer())
        #expect(whole == bytes)
        output.remove(60_000)
        let rest = Array(output.offer())
        #expect(rest == Array(bytes[60_000...]))
        output.remove(40_000)
        let isEmpty = output.isEmpty
        #expect(isEmpty)
        bytes[..<10].withUnsafeBytes { output.append($0) }
        let counts = (output.producedByteCount, output.offeredByteCount)
        #expect(counts == (100_010, 100_000))
    }

    @Test func `calls are found by their id until they are ended`() throws {
        var list = CallList()
        let calls = try (1...1000).map { try makeCall(id: $0) }
        for call in calls { list.append(call) }
        for (index, call) in calls.enumerated() where index % 3 != 1 {
            call.end(.failure(.shutDown))
            list.recordEnd()
        }
        #expect(list.openCount == 333)
        #expect(list.first?.id == 2)
        #expect(list.find(2)?.id == 2)
        #expect(list.find(500)?.id == 500)
        #expect(list.find(3) == nil)
        #expect(list.find(0) == nil)
        #expect(list.find(1001) == nil)
    }

    @Test func `urgent calls go before the calls that wait, and alone by their connection`() throws {
        var waiting = WaitingCalls()
        for id in 1...4 { waiting.append(try makeCall(id: id, isUrgent: id == 3)) }
        #expect(waiting.first(for: .urgentCalls)?.id == 3)
        #expect(waiting.first(for: .allCalls)?.id == 3)
        waiting.removeFirst(for: .allCalls)
        #expect(waiting.first(for: .urgentCalls) == nil)
        waiting.removeFirst(for: .urgentCalls)
        waiting.removeFirst(for: .allCalls)
        #expect(waiting.first(for: .allCalls)?.id == 2)
        waiting.first(for: .allCalls)?.end(.failure(.shutDown))
        waiting.dropEnded()
        #expect(waiting.popFirst()?.id == 4)
        #expect(waiting.isEmpty)
    }

    private func makeCall(id: Int, isUrgent: Bool = false) throws -> Call {
        let request = (request: try HTTP2Request(path: "/"), body: [UInt8](), isUrgent: isUrgent)
        let posted = HTTP2Mailbox.PostedCall(id: UInt64(id), request: request) { _ in }
        return Call(posted, deadline: .now)
    }

    @Test(arguments: [
        ("https://fcm.googleapis.com", "https", "fcm.googleapis.com"), ("https://localhost:9443/", "https", "localhost:9443"),
        ("http://[::1]:80/path?query", "http", "[::1]:80"),
    ])
    func `an origin is a scheme and an authority`(url: String, scheme: String, authority: String) {
        #expect(HTTP2Origin(url).fields == HeaderFields([(":scheme", scheme), (":authority", authority)]))
    }
}
