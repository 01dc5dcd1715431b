import Foundation
import Testing

@testable import MobileClient

/// A transport whose downloads a test answers.
private struct PictureTransport: HTTPTransport {
    /// The answer to a request, and the body of its file.
    let answer: @Sendable (TransportRequest) async throws -> (response: TransportResponse, file: Data)

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        throw TransportError(.other, "not used")
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.other, "not used")
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        do {
            let (response, body) = try await answer(request)
            if response.status == 200 { try body.write(to: file) }
            return response
        } catch {
            throw TransportError(.cancelled, "\(error)")
        }
    }

    static func picture(_ file: Data, type: String? = "image/png", status: Int = 200) -> Self {
        Self { _ in
            var headers: TransportHeaders = [:]
            headers["Content-Type"] = type
            return (TransportResponse(status: status, headers: headers), file)
        }
    }
}

@Suite struct NotificationContentLoaderTests {
    private static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
    private let folder: TemporaryFolder
    private let time = ManualTime()

    init() throws { folder = try TemporaryFolder() }

    private typealias Attachment = NotificationContentLoader.Attachment

    /// A loader, and what it hands back.
    private func loader(
        _ transport: any HTTPTransport, payload: PushPayload = PushSamples.newPhotos(), isTaken: Bool = true
    ) -> (loader: NotificationContentLoader, deliveries: AsyncStream<Attachment?>) {
        let (deliveries, deliver) = AsyncStream.makeStream(of: Attachment?.self)
        let loader = NotificationContentLoader(
            PushMessage(payload), folder: folder.url, transport: transport, time: time.source
        ) { attachment in
            deliver.yield(attachment)
            return isTaken
        }
        return (loader, deliveries)
    }

    private func first(_ deliveries: AsyncStream<Attachment?>) async -> Attachment? {
        for await attachment in deliveries { return attachment }
        return nil
    }

    @Test func `a picture is handed over with its file and type`() async throws {
        let (loader, deliveries) = loader(PictureTransport.picture(Self.png))
        loader.start()
        let attachment = try #require(await first(deliveries))
        #expect(attachment.type == .png && attachment.file.pathExtension == "png")
        #expect(try Data(contentsOf: attachment.file) == Self.png && folder.files.count == 1)
        // The end of the system's time has no effect any more.
        loader.expire()
        #expect(folder.files.count == 1)
    }

    @Test(
        arguments: [
            (Data("<html>".utf8), "image/png", 200), (png, "text/html", 200), (Data("oops".utf8), "image/png", 404),
            (Data(), "image/png", 200),
            (Data("RIFF....WEBPVP8 ".utf8), "image/webp", 200), (png + Data(count: 10_000_000), "image/png", 200), (Data(), nil, 302),
        ] as [(Data, String?, Int)])
    func `what is no picture leaves the text and no file`(body: Data, type: String?, status: Int) async {
        let (loader, deliveries) = loader(PictureTransport.picture(body, type: type, status: status))
        loader.start()
        #expect(await first(deliveries) == nil)
        loader.expire()
        #expect(folder.files.isEmpty)
    }

    @Test func `the next address is tried when the first fails`() async throws {
        let transport = PictureTransport { request in
            request.url.host == "b.example"
                ? (TransportResponse(status: 200), Self.png) : (TransportResponse(status: 503), Data("busy".utf8))
        }
        let payload = PushPayload(userInfo: [
            "fcm_options": ["image": "https://a.example/1.png"], "image_url": "https://b.example/2.png", "aps": ["alert": "x"],
        ])
        let (loader, deliveries) = loader(transport, payload: payload)
        loader.start()
        #expect(await first(deliveries)?.type == .png)
        #expect(folder.files.count == 1)
    }

    @Test func `without an address the text is handed back before start returns`() async {
        let (loader, deliveries) = loader(PictureTransport.picture(Self.png), payload: PushSamples.jobFailed())
        loader.start()
        var iterator = deliveries.makeAsyncIterator()
        #expect(await iterator.next() == .some(nil))
    }

    @Test func `after 25 seconds the text is handed back, and the file of a late picture goes`() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let transport = PictureTransport { _ in
            // A transport that does not heed the cancellation.
            await Task.detached { for await _ in released { break } }.value
            end.yield()
            return (TransportResponse(status: 200), Self.png)
        }
        let (loader, deliveries) = loader(transport)
        loader.start()
        await time.waitForSleepers()
        time.advance(by: .milliseconds(24_999))
        #expect(folder.files.isEmpty)
        time.advance(by: .milliseconds(1))
        #expect(await first(deliveries) == nil)
        release.yield()
        for await _ in ended { break }
        await until { folder.files.isEmpty }
        _ = loader
    }

    @Test func `the system's end hands the text back at once, on its thread`() async {
        let delivered = LockedCount()
        let transport = PictureTransport { _ in
            try await Task.sleep(for: .seconds(3_600))
            throw CancellationError()
        }
        let loader = NotificationContentLoader(
            PushMessage(PushSamples.newPhotos()), folder: folder.url, transport: transport, time: time.source
        ) { _ in
            delivered.increment()
            return true
        }
        loader.start()
        #expect(delivered.value == 0)
        loader.expire()
        #expect(delivered.value == 1)
        loader.expire()
        #expect(delivered.value == 1)
    }

    @Test func `a file that the system does not take is removed`() async {
        let (loader, deliveries) = loader(PictureTransport.picture(Self.png), isTaken: false)
        loader.start()
        #expect(await first(deliveries) != nil)
        // The runner removes it before it handles another event.
        loader.expire()
        #expect(folder.files.isEmpty)
    }

    @Test func `files that an ended process left are removed after an hour`() throws {
        let left = folder.url.appending(path: "left.png")
        try Self.png.write(to: left)
        let written = try #require(left.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate)
        func start(at seconds: Double) {
            let time = TimeSource(now: { written.addingTimeInterval(seconds) }, sleep: { _ in })
            let loader = NotificationContentLoader(
                PushMessage(PushSamples.chat()), folder: folder.url, transport: PictureTransport.picture(Self.png), time: time
            ) { _ in true }
            loader.start()
        }
        start(at: 3_599)
        #expect(folder.files == ["left.png"])
        start(at: 3_601)
        #expect(folder.files.isEmpty)
        // Of a clock that was wrong.
        try Self.png.write(to: left)
        start(at: -3_601)
        #expect(folder.files.isEmpty)
    }

    @Test func `a folder that cannot be made leaves the text`() async throws {
        let file = folder.url.appending(path: "occupied")
        try Data().write(to: file)
        let (deliveries, deliver) = AsyncStream.makeStream(of: Attachment?.self)
        let loader = NotificationContentLoader(
            PushMessage(PushSamples.newPhotos()), folder: file.appending(path: "pictures"), transport: PictureTransport.picture(Self.png),
            time: time.source
        ) { attachment in
            deliver.yield(attachment)
            return true
        }
        loader.start()
        #expect(await first(deliveries) == nil)
    }

    @Test func `the end of the extension's time hands back all of its notifications`() {
        let transport = PictureTransport { _ in
            try await Task.sleep(for: .seconds(3_600))
            throw CancellationError()
        }
        let phone = PushExtension(folder: folder.url, transport: transport, time: time.source)
        let delivered = LockedCount()
        for _ in 0..<2 {
            phone.receive(PushSamples.newPhotos()) { _ in
                delivered.increment()
                return true
            }
        }
        phone.expire()
        #expect(delivered.value == 2)
    }

    @Test func `the extension stores that the push was delivered`() async throws {
        let (deliveries, deliver) = AsyncStream.makeStream(of: Attachment?.self)
        let phone = PushExtension(folder: folder.url, transport: PictureTransport.picture(Self.png), time: time.source)
        phone.receive(PushSamples.newPhotos()) { attachment in
            deliver.yield(attachment)
            return true
        }
        #expect(await first(deliveries)?.type == .png)
        phone.expire()
        let receipts = ReceiptFiles(folder: folder.url.appending(path: "receipts")).load(now: time.now)
        #expect(receipts.map(\.key) == ["event_id-delivered-42"])
    }
}

/// A number that several threads count up.
private final class LockedCount: @unchecked Sendable {
    // `count` is read and written under `lock` alone.
    private let lock = NSLock()
    private var count = 0
    var value: Int { lock.withLock { count } }
    func increment() { lock.withLock { count += 1 } }
}
