import Foundation
import MobileClient
import Synchronization
import Testing

@testable import MobileSim

/// A transport that answers at once, and counts.
private final class InstantTransport: HTTPTransport {
    let sent = Mutex(0)
    let urls = Mutex<[String]>([])

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        sent.withLock { $0 += 1 }
        urls.withLock { $0.append(request.url.absoluteString) }
        return TransportResponse(status: 200)
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        do { try Data("picture".utf8).write(to: file) } catch { throw TransportError(.file, "\(error)") }
        return try await send(request, maxBytes: maxBytes)
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse {
        var lines = 0
        while lines < 100, await onLine("line") { lines += 1 }
        return TransportResponse(status: 200)
    }
}

@Suite struct IncarnationTests {
    private static let request = TransportRequest("GET", FakeStack.api)

    private static func network(lost: Double = 0, slow: Double = 0) -> PhoneNetwork {
        var scenario = Scenario().faults(times: 0)
        scenario.lostAnswers = lost
        scenario.slowAnswers = slow
        return PhoneNetwork(scenario, phone: 0)
    }

    private static func process(_ number: Int = 1, atEnd: @escaping @Sendable () -> Void = {}) -> Incarnation {
        Incarnation(number: number, folder: URL(fileURLWithPath: "/none"), atEnd: atEnd)
    }

    /// Whether something has happened after other tasks have had many turns: for what must not happen, which no wait makes certain.
    private static func settles(_ done: @Sendable () -> Bool) async -> Bool {
        for _ in 0..<2_000 where !done() { await Task.yield() }
        return done()
    }

    // MARK: Ends

    @Test func `a process ends at the planned point, and its end is noticed once`() async {
        let ends = Mutex(0)
        let process = Self.process { ends.withLock { $0 += 1 } }
        process.end(afterPoints: 3)
        #expect(await process.pass(.request))
        #expect(await process.pass(.answer))
        #expect(process.isAlive)
        let task = Task { await process.pass(.pause) }
        await process.ended()
        process.end()
        #expect(ends.withLock { $0 } == 1)
        #expect(process.endedAt?.hasPrefix("pause") == true)
        task.cancel()
        #expect(await task.value == false)
    }

    @Test func `a planned end can be taken back`() async {
        let process = Self.process()
        process.end(afterPoints: 1)
        process.spare()
        #expect(await process.pass(.request))
    }

    @Test func `steps of the app do not count as points`() async {
        let process = Self.process()
        process.end(afterPoints: 1)
        for _ in 0..<5 { #expect(await process.pass(.step)) }
        #expect(process.isAlive)
    }

    @Test func `a call of a process that has ended does not return, unless it is cancelled`() async {
        let process = Self.process()
        process.end()
        let returned = Mutex(false)
        let task = Task {
            let lives = await process.pass(.request)
            returned.withLock { $0 = true }
            return lives
        }
        #expect(await !Self.settles { returned.withLock { $0 } })
        task.cancel()
        #expect(await task.value == false)
    }

    @Test func `a task that was cancelled before does not wait`() async {
        let process = Self.process()
        process.end()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await process.pass(.answer)
        }
        task.cancel()
        #expect(await task.value == false)
    }

    @Test func `a pause of a process that has ended does not end`() async {
        let process = Self.process()
        // The first point is before the pause, the second at its end.
        process.end(afterPoints: 2)
        let time = PhoneClock().time(of: process)
        let returned = Mutex(false)
        let task = Task {
            try? await time.sleep(.milliseconds(5))
            returned.withLock { $0 = true }
        }
        await process.ended()
        #expect(await !Self.settles { returned.withLock { $0 } })
        task.cancel()
        await task.value
    }

    @Test func `a clock that is set forward shows a later time`() {
        let clock = PhoneClock()
        let before = clock.now
        clock.jump(seconds: 86_400)
        #expect(clock.now.timeIntervalSince(before) >= 86_400)
    }

    // MARK: The network

    @Test func `a request of a process that has ended is not sent`() async {
        let base = InstantTransport()
        let process = Self.process()
        process.end(afterPoints: 1)
        let transport = FaultyTransport(base: base, incarnation: process, network: Self.network())
        let task = Task { try? await transport.send(Self.request, maxBytes: 1) }
        await process.ended()
        task.cancel()
        #expect(await task.value == nil)
        #expect(base.sent.withLock { $0 } == 0)
    }

    @Test func `a process may end after the API has handled its request`() async {
        let base = InstantTransport()
        let process = Self.process()
        process.end(afterPoints: 2)
        let transport = FaultyTransport(base: base, incarnation: process, network: Self.network())
        let task = Task { try? await transport.send(Self.request, maxBytes: 1) }
        await process.ended()
        task.cancel()
        #expect(await task.value == nil)
        #expect(base.sent.withLock { $0 } == 1)
        #expect(process.endedAt?.hasPrefix("answer") == true)
    }

    @Test func `without a network nothing is sent`() async {
        let base = InstantTransport()
        let network = Self.network()
        network.lose()
        let transport = FaultyTransport(base: base, incarnation: Self.process(), network: network)
        await #expect(throws: TransportError(.notConnected, "The phone has no network")) {
            try await transport.send(Self.request, maxBytes: 1)
        }
        #expect(base.sent.withLock { $0 } == 0)
        network.restore()
        #expect((try? await transport.send(Self.request, maxBytes: 1))?.status == 200)
    }

    @Test func `an answer is lost after the request was handled, and with it the file`() async {
        let base = InstantTransport()
        let faults = Mutex<[FaultCount.Kind]>([])
        var watch = FaultyTransport.Watch()
        watch.fault = { kind, _ in faults.withLock { $0.append(kind) } }
        let transport = FaultyTransport(base: base, incarnation: Self.process(), network: Self.network(lost: 1), watch: watch)
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        await #expect(throws: TransportError(.connectionLost, "The answer was lost")) {
            try await transport.download(Self.request, to: file, maxBytes: 100)
        }
        #expect(base.sent.withLock { $0 } == 1)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(faults.withLock { $0 } == [.answerLost])
    }

    @Test func `an answer that is later than the timeout is none`() async {
        let transport = FaultyTransport(base: InstantTransport(), incarnation: Self.process(), network: Self.network(slow: 1))
        let request = TransportRequest("GET", FakeStack.api, timeout: .milliseconds(10))
        await #expect(throws: TransportError(.timedOut, "The answer is late")) { try await transport.send(request, maxBytes: 1) }
    }

    @Test func `a stream ends with the network`() async throws {
        let network = Self.network()
        let transport = FaultyTransport(base: InstantTransport(), incarnation: Self.process(), network: network)
        let lines = Mutex(0)
        await #expect(throws: TransportError(.connectionLost, "The answer was lost")) {
            try await transport.stream(Self.request) { _ in
                if lines.withLock({
                    $0 += 1; return $0 == 3
                }) {
                    network.lose()
                }
                return true
            }
        }
        #expect(lines.withLock { $0 } == 3)
    }

    @Test func `losses of the network may overlap, and healing ends all faults`() {
        let network = Self.network(lost: 1)
        network.lose()
        network.lose()
        network.restore()
        #expect(!network.isOnline)
        network.heal()
        #expect(network.isOnline)
        #expect(network.fate() == .handled)
        network.lose()
        #expect(network.isOnline)
    }
}

@Suite struct ExtensionPartsTests {
    @Test func `links by https lead to http, others stay`() async throws {
        let base = InstantTransport()
        let transport = PlainTransport(base: base)
        for text in ["https://127.0.0.1:1/a?b=c", "http://127.0.0.1:1/a?b=c"] {
            _ = try await transport.send(TransportRequest("GET", try #require(URL(string: text))), maxBytes: 1)
        }
        #expect(base.urls.withLock { $0 } == ["http://127.0.0.1:1/a?b=c", "http://127.0.0.1:1/a?b=c"])
    }

    @Test func `deliveries are counted`() {
        let record = DeliveryRecord()
        #expect(record.seen.count == 0)
        record.add(hasPicture: true)
        record.add(hasPicture: false)
        #expect(record.seen.count == 2)
        #expect(record.seen.hasPicture)
    }
}
