import Foundation
import Testing

@testable import MobileClient

/// Uploads by a transport, in the process.
@Suite struct ForegroundUploadsTests {
    /// A transport that answers when a test says so.
    private final class HeldTransport: HTTPTransport {
        let sent = Locked<[TransportRequest]>([])
        private let answers: AsyncStream<TransportResponse>
        let answer: AsyncStream<TransportResponse>.Continuation

        init() { (answers, answer) = AsyncStream.makeStream() }

        func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
            sent.withLock { $0.append(request) }
            for await answer in answers { return answer }
            throw TransportError(.cancelled, "cancelled")
        }

        func download(_: TransportRequest, to _: URL, maxBytes _: Int) async throws(TransportError) -> TransportResponse {
            throw TransportError(.other, "not in use")
        }

        func stream(_: TransportRequest, onLine _: @Sendable (String) async -> Bool) async throws(TransportError) -> TransportResponse {
            throw TransportError(.other, "not in use")
        }
    }

    private let time = ManualTime()
    private let transport = HeldTransport()

    private func upload(after seconds: Double? = nil) throws -> UploadTask {
        let file = URL(fileURLWithPath: "/nowhere/file")
        let url = try #require(URL(string: "https://api.example.com/v1/images/process"))
        return UploadTask(
            request: TransportRequest("POST", url, body: .file(file)), file: file, description: "order",
            notBefore: seconds.map { time.now + $0 })
    }

    @Test func `a task is listed until the session has reported its end`() async throws {
        let uploads = ForegroundUploads(transport: transport, time: time.source)
        let task = await uploads.create(try upload())
        #expect(await uploads.tasks().map(\.task) == [task])
        transport.answer.yield(TransportResponse(status: 202))
        for await case .ended(let ended, let description, let result) in uploads.events() {
            #expect(ended == task && description == "order")
            #expect(try result.get().status == 202)
            break
        }
        #expect(await uploads.tasks().isEmpty)
    }

    @Test func `a task waits for its time`() async throws {
        let uploads = ForegroundUploads(transport: transport, time: time.source)
        _ = await uploads.create(try upload(after: 30))
        await time.waitForSleepers()
        #expect(transport.sent.withLock { $0.isEmpty })
        time.advance(by: .seconds(30))
        await until { transport.sent.withLock { !$0.isEmpty } }
        await uploads.cancel(0)
    }

    @Test(arguments: [nil, 30.0])
    func `a task that is cancelled ends`(delay: Double?) async throws {
        let uploads = ForegroundUploads(transport: transport, time: time.source)
        let task = await uploads.create(try upload(after: delay))
        await uploads.cancel(task)
        for await case .ended(_, _, .failure(let error)) in uploads.events() {
            #expect(error.code == .cancelled)
            break
        }
        #expect(await uploads.tasks().isEmpty)
    }

    @Test func `an order goes through the driver and a transport to its job`() async throws {
        let phone = try UploadPhone()
        let configuration = try ClientConfiguration(
            baseURL: try #require(URL(string: "https://api.example.com")), appVersion: "1", folder: phone.folder.url)
        let bearers = UploadBearers(
            current: { () async throws(HeliographError) in .init(token: "t", owner: "me") },
            replacement: { (refused) async throws(HeliographError) in refused })
        let uploads = BackgroundUploads(
            store: PendingTaskStore(folder: phone.store, time: time.source),
            session: ForegroundUploads(transport: transport, time: time.source), configuration: configuration, bearers: bearers,
            time: time.source)
        let order = try phone.order()
        try await uploads.enqueue(order)
        transport.answer.yield(.json(#"{"success":true,"data":{"job_id":"job-7"}}"#, status: 202))
        #expect(try await uploads.outcome(of: order.id) == "job-7")
        let sent = try #require(transport.sent.withLock { $0.first })
        #expect(sent.headers["authorization"] == "Bearer t" && sent.method == "POST")
    }
}
