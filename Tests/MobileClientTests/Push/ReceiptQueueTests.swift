import Foundation
import Testing

@testable import MobileClient

@Suite struct ReceiptQueueTests {
    private let folder: TemporaryFolder
    private let time = ManualTime()

    init() throws { folder = try TemporaryFolder() }

    /// A queue, and the signals of its requests.
    private func queue(
        _ handler: @escaping ScriptedSender.Handler = { _ in ReceiptQueueTests.counted }
    ) -> (queue: ReceiptQueue, sender: ScriptedSender, sent: AsyncStream<ScriptedSender.Sent>) {
        let (sent, signal) = AsyncStream.makeStream(of: ScriptedSender.Sent.self)
        let sender = ScriptedSender { request throws(HeliographError) in
            signal.yield(request)
            return try await handler(request)
        }
        return (ReceiptQueue(folder: folder.url, sender: sender, time: time.source, jitter: { 1_000 }), sender, sent)
    }

    static let counted = TransportResponse.json(#"{"success":true,"data":{"received":1,"counted":1},"meta":{}}"#)

    private func body(_ sent: ScriptedSender.Sent?) throws -> [[String: String]] {
        try JSONDecoder().decode([[String: String]].self, from: #require(sent?.body))
    }

    /// Waits until the queue has nothing under way: its files are what they will be.
    private func drained(_ queue: ReceiptQueue) async {
        await until { await queue.pending.isEmpty }
    }

    @Test func `a receipt is sent as the API wants it, and its file goes`() async throws {
        let (queue, _, sent) = queue()
        await queue.record(ReceiptSamples.delivered())
        let request = await sent.first { _ in true }
        #expect(request?.method == "POST" && request?.path == "/v1/notifications/receipts" && request?.bearer == "account")
        #expect(try body(request) == [["message_id": "m-1", "event": "delivered", "at": "2027-01-15T08:00:00Z"]])
        await drained(queue)
        #expect(folder.files.isEmpty)
    }

    @Test func `after a loss the receipt is kept, and sent again after a wait`() async throws {
        let attempts = ReceiptCounter()
        let (queue, _, sent) = queue { _ throws(HeliographError) in
            if await attempts.next() == 1 { throw HeliographError(.unreachable, "no network", isRetryable: true) }
            return Self.counted
        }
        var requests = sent.makeAsyncIterator()
        await queue.record(ReceiptSamples.delivered())
        _ = await requests.next()
        await time.waitForSleepers()
        #expect(folder.files == ["message_id-delivered-m-1.json"])
        time.advance(by: .milliseconds(5_000))
        #expect(try body(await requests.next()).count == 1)
        await drained(queue)
        #expect(folder.files.isEmpty)
    }

    @Test func `a flush does not wait`() async throws {
        let attempts = ReceiptCounter()
        let (queue, _, sent) = queue { _ throws(HeliographError) in
            if await attempts.next() == 1 {
                throw HeliographError(.rateLimited, "later", status: 429, retryAfter: .seconds(600), isRetryable: true)
            }
            return Self.counted
        }
        var requests = sent.makeAsyncIterator()
        await queue.record(ReceiptSamples.delivered())
        _ = await requests.next()
        await time.waitForSleepers()
        await queue.flush()
        _ = await requests.next()
        await drained(queue)
    }

    @Test func `what a former process and the extension have stored is sent`() async throws {
        let files = ReceiptFiles(folder: folder.url)
        try files.add(ReceiptSamples.delivered("m-1", at: 1_799_999_000))
        try files.add(ReceiptSamples.delivered("m-2", at: 1_799_998_000))
        let (queue, _, sent) = queue()
        await queue.flush()
        #expect(try body(await sent.first { _ in true }).map { $0["message_id"] } == ["m-2", "m-1"])
        await drained(queue)
        #expect(folder.files.isEmpty)
    }

    @Test func `a receipt that the API refuses does not keep the others`() async throws {
        let (queue, _, sent) = queue { request throws(HeliographError) in
            guard let body = request.body, String(decoding: body, as: UTF8.self).contains("m-2") else { return Self.counted }
            throw HeliographError(.invalidRequest, "no", status: 400, field: "[1].message_id")
        }
        for id in ["m-1", "m-2", "m-3"] { try ReceiptFiles(folder: folder.url).add(ReceiptSamples.delivered(id)) }
        var requests = sent.makeAsyncIterator()
        await queue.flush()
        _ = await requests.next()
        #expect(try body(await requests.next()).map { $0["message_id"] } == ["m-1", "m-3"])
        await drained(queue)
        #expect(folder.files.isEmpty)
    }

    @Test func `without a person it waits for the next flush`() async throws {
        let attempts = ReceiptCounter()
        let (queue, _, sent) = queue { _ throws(HeliographError) in
            if await attempts.next() == 1 { throw HeliographError(.signedOut, "sign in") }
            return Self.counted
        }
        var requests = sent.makeAsyncIterator()
        await queue.record(ReceiptSamples.delivered())
        _ = await requests.next()
        await queue.record(ReceiptSamples.delivered("m-2"))
        #expect(folder.files.count == 2)
        await queue.flush()
        #expect(try body(await requests.next()).count == 2)
        await drained(queue)
    }

    @Test func `a sign-out forgets what waits, also on the disk`() async throws {
        let (queue, sender, _) = queue { _ throws(HeliographError) in throw HeliographError(.signedOut, "sign in") }
        await queue.record(ReceiptSamples.delivered())
        await queue.signedOut()
        #expect(await queue.pending.isEmpty && folder.files.isEmpty)
        await queue.flush()
        #expect(await sender.sent.count <= 1)
    }

    @Test func `without space on the disk a receipt is sent all the same`() async throws {
        let file = folder.url.appending(path: "occupied")
        try Data().write(to: file)
        let (sent, signal) = AsyncStream.makeStream(of: Void.self)
        let sender = ScriptedSender { _ in
            signal.yield()
            return Self.counted
        }
        // A folder below a file cannot be made.
        let queue = ReceiptQueue(folder: file.appending(path: "receipts"), sender: sender, time: time.source)
        await queue.record(ReceiptSamples.delivered())
        for await _ in sent { break }
        await drained(queue)
    }

    @Test(arguments: [
        (HeliographError(.invalidRequest, "", status: 400, field: "[7].at"), ReceiptReducer.Event.refused(request: 1, index: 7)),
        (HeliographError(.payloadTooLarge, "", status: 413), .refused(request: 1, index: nil)),
        (HeliographError(.unauthorized, "", status: 401), .signInNeeded(request: 1)),
        (HeliographError(.internal, "", status: 500), .failed(request: 1, retryAfterSeconds: nil, jitter: 7)),
        (HeliographError(.unexpectedAnswer, "", status: 200), .failed(request: 1, retryAfterSeconds: nil, jitter: 7)),
        (HeliographError(.cancelled, ""), .failed(request: 1, retryAfterSeconds: nil, jitter: 7)),
        (
            HeliographError(.overloaded, "", status: 503, retryAfter: .milliseconds(1_500)),
            .failed(request: 1, retryAfterSeconds: 2, jitter: 7)
        ),
    ])
    func `an error says whether to repeat`(error: HeliographError, expected: ReceiptReducer.Event) {
        #expect(ReceiptQueue.event(of: error, request: 1, jitter: 7) == expected)
    }
}

/// Counts from one.
actor ReceiptCounter {
    private var value = 0
    func next() -> Int {
        value += 1
        return value
    }
}
