import Foundation
import Testing

@testable import MobileClient

@Suite struct PushClientTests {
    private let folder: TemporaryFolder
    private let time = ManualTime()

    init() throws { folder = try TemporaryFolder() }

    /// What the handlers were called with, in order.
    private struct Calls {
        let stream: AsyncStream<String>
        let handlers: PushHandlers

        init() {
            let (stream, call) = AsyncStream.makeStream(of: String.self)
            self.stream = stream
            var handlers = PushHandlers()
            handlers.jobPush = { call.yield("job \($0.id)") }
            handlers.sessionPush = { call.yield("session \($0)") }
            handlers.installNonce = { call.yield("nonce \($0.nonce)") }
            handlers.message = { call.yield("message \($0.identifier ?? "")") }
            self.handlers = handlers
        }

        func next(_ count: Int) async -> [String] {
            var calls: [String] = []
            for await call in stream {
                calls.append(call)
                if calls.count == count { break }
            }
            return calls
        }
    }

    private func client(_ handlers: PushHandlers = PushHandlers(), sender: ScriptedSender? = nil) -> PushClient {
        let sender = sender ?? ScriptedSender { _ throws(HeliographError) in throw HeliographError(.signedOut, "sign in") }
        return PushClient(folder: folder.url, sender: sender, handlers: handlers, time: time.source)
    }

    /// Waits until the folder has so many receipts.
    private func receipts(_ count: Int) async -> [String] {
        // Until an atomic write has ended, its file has another name.
        func written() -> [String] { folder.files.filter { $0.hasSuffix(".json") } }
        await until { written().count >= count }
        return written()
    }

    @Test func `a push that the system reports to background, foreground and tap runs its handlers once`() async {
        let calls = Calls()
        let client = client(calls.handlers)
        let payload = PushSamples.jobCompleted()
        #expect(await client.received(payload, in: .background).isNew)
        let shown = await client.received(payload, in: .foreground)
        #expect(!shown.isNew && shown.presentation == .init(banner: true, sound: true, badge: true, list: true))
        await client.opened(payload, action: .viewImage)
        #expect(await client.received(PushSamples.chat(), in: .background).isNew)
        #expect(await calls.next(3) == ["job \(PushSamples.job)", "message job:\(PushSamples.job)", "message chat:m-77:nN4f2Z9itL"])
        #expect(folder.files.contains("job_id-opened-\(PushSamples.job).json"))
    }

    @Test func `the visible conversation is silent at once, and the app cannot change that`() async {
        var handlers = PushHandlers()
        handlers.presentation = { _, _ in .init(banner: true, sound: true, badge: true, list: true) }
        let client = client(handlers)
        client.visibleConversations = ["c-9"]
        #expect(await client.received(PushSamples.chat("c-9"), in: .foreground).presentation == .nothing)
        #expect(await client.received(PushSamples.chat("c-8", message: "m-78"), in: .foreground).presentation.sound)
        #expect(await receipts(2) == ["message_id-delivered-m-78.json", "message_id-suppressed-m-77.json"])
    }

    @Test func `an eKYC push wakes its session, and the handler does not learn what it says`() async {
        let calls = Calls()
        let client = client(calls.handlers)
        await client.received(PushSamples.signIn("s-1", success: "true"), in: .background)
        await client.received(PushSamples.signIn("s-2", success: "false"), in: .background)
        #expect(await calls.next(4) == ["session s-1", "message ekyc:s-1", "session s-2", "message ekyc:s-2"])
    }

    @Test func `a possession check hands on its nonce once`() async {
        let calls = Calls()
        let client = client(calls.handlers)
        await client.received(PushSamples.possessionCheck, in: .background)
        #expect(await !client.received(PushSamples.possessionCheck, in: .background).isNew)
        #expect(await calls.next(2) == ["nonce Zm9vYmFy", "message possession:\(PushSamples.session)"])
    }

    @Test func `in the background handlers have 25 seconds`() async {
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        var handlers = PushHandlers()
        handlers.jobPush = { _ in
            enter.yield()
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
        }
        let client = client(handlers)
        async let reception = client.received(PushSamples.jobCompleted(), in: .background)
        for await _ in entered { break }
        await time.waitForSleepers()
        time.advance(by: .seconds(25))
        #expect(await reception.isNew)
    }

    @Test func `a tap that starts the app is routed, woken and stored`() async {
        let calls = Calls()
        let client = client(calls.handlers)
        await client.opened(PushSamples.jobCompleted(), action: .viewImage)
        #expect(folder.files == ["job_id-opened-\(PushSamples.job).json"])
        let (openings, deliver) = AsyncStream.makeStream(of: NotificationRouter.Opening.self)
        client.router.setHandler { deliver.yield($0) }
        let opening = await openings.first { _ in true }
        #expect(opening?.route == .job(id: PushSamples.job) && opening?.action == .viewImage)
        #expect(await calls.next(1) == ["job \(PushSamples.job)"])
    }

    @Test func `a removal makes a receipt, and is routed nowhere`() async {
        let client = client()
        await client.opened(PushSamples.chat(), action: .dismiss)
        #expect(folder.files == ["message_id-dismissed-m-77.json"])
        client.router.setHandler { _ in Issue.record("routed") }
        await client.router.idle()
    }

    @Test func `an older count does not reach the icon, not even by the system`() async {
        let (numbers, show) = AsyncStream.makeStream(of: Int.self)
        var handlers = PushHandlers()
        handlers.badge = { show.yield($0) }
        let client = client(handlers)
        client.badge.answered(1, at: Date(timeIntervalSince1970: 1_800_000_010))
        let late = PushSamples.jobCompleted(badge: 5, messageID: "1800000000000000")
        #expect(await !client.received(late, in: .foreground).presentation.badge)
        #expect(client.badge.count == 1)
        #expect(await numbers.first { _ in true } == 1)
    }

    @Test func `a sign-out forgets receipts, waiting taps and the count`() async {
        let client = client()
        await client.opened(PushSamples.jobCompleted())
        client.visibleConversations = ["c"]
        await client.signedOut()
        #expect(folder.files.isEmpty && client.badge.count == nil && client.visibleConversations.isEmpty)
        client.router.setHandler { _ in Issue.record("a tap of the former person") }
        await client.router.idle()
    }

    @Test func `receipts are sent when the app comes to the foreground`() async throws {
        let (sent, signal) = AsyncStream.makeStream(of: ScriptedSender.Sent.self)
        let client = client(
            sender: ScriptedSender { request in
                signal.yield(request)
                return ReceiptQueueTests.counted
            })
        try ReceiptFiles(folder: folder.url).add(ReceiptSamples.delivered())
        await client.flush()
        #expect(await sent.first { _ in true }?.path == "/v1/notifications/receipts")
        await until { folder.files.isEmpty }
    }

    @Test func `what the extension stores, the client of the same folder sends`() async throws {
        let (sent, signal) = AsyncStream.makeStream(of: ScriptedSender.Sent.self)
        let sender = ScriptedSender { request in
            signal.yield(request)
            return ReceiptQueueTests.counted
        }
        PushExtension(folder: folder.url, transport: URLSessionTransport(), time: time.source)
            .receive(PushSamples.jobFailed()) { _ in true }
        let receipts = folder.url.appending(path: ReceiptFiles.folderName)
        let client = PushClient(folder: receipts, sender: sender, handlers: PushHandlers(), time: time.source)
        await client.flush()
        let body = try #require(await sent.first { _ in true }?.body)
        #expect(String(decoding: body, as: UTF8.self).contains(PushSamples.job))
        await until { folder.files.isEmpty }
    }

    @Test func `each who listens gets each new push once, and the stream ends with the client`() async {
        var client: PushClient? = client()
        guard let (first, second) = client.map({ ($0.messages(), $0.messages()) }) else { return }
        await client?.received(PushSamples.chat(), in: .background)
        await client?.received(PushSamples.chat(), in: .background)
        await client?.received(PushSamples.signIn(), in: .background)
        client = nil
        for stream in [first, second] {
            #expect(await stream.reduce(into: []) { $0.append($1.identifier) } == ["chat:m-77:nN4f2Z9itL", "ekyc:\(PushSamples.session)"])
        }
    }

    @Test func `an extension's report runs no handlers, so that the app's runs them`() async {
        let calls = Calls()
        let client = client(calls.handlers)
        #expect(await !client.received(PushSamples.jobCompleted(), in: .extension).isNew)
        #expect(folder.files == ["job_id-delivered-\(PushSamples.job).json"])
        #expect(await client.received(PushSamples.jobCompleted(), in: .background).isNew)
    }
}

@Suite struct NotificationCategoriesTests {
    @Test func `a tap on the app's own notification leads where one on the push does`() {
        let local = JobNotification(jobID: PushSamples.job, templateName: "Oil")
        let message = PushMessage(PushPayload(userInfo: local.data, identifier: local.identifier))
        let push = PushMessage(PushSamples.jobCompleted())
        #expect(NotificationRouter.Route(message) == NotificationRouter.Route(push) && message.occurrence == push.occurrence)
        #expect(local.identifier == push.identifier && JobNotification.category == NotificationCategories.imageComplete)
    }

    @Test func `the app's own notification is shown in the foreground like a push`() async {
        let local = JobNotification(jobID: PushSamples.job, templateName: "Oil")
        let payload = PushPayload(
            userInfo: local.data, identifier: local.identifier, deliveredAt: 1, title: JobNotification.title, body: local.body,
            hasSound: true)
        let message = PushMessage(payload)
        #expect(
            message.title == "Image Ready! 🎨"
                && message.kind == .job(.init(id: PushSamples.job, isCompleted: true, templateName: "Oil", reason: nil)))
        let shown = ForegroundPolicy.presentation(of: message, visible: [], isRepetition: false)
        #expect(shown == .init(banner: true, sound: true, badge: false, list: true))
    }

    @Test func `the content of a push is what its sender wrote`() {
        let push = PushSamples.chat()
        var info: [AnyHashable: Any] = ["aps": ["alert": ["title": "Zoë"]]]
        for (name, value) in push.data { info[name] = value }
        let payload = PushPayload(userInfo: info, identifier: "i", deliveredAt: nil, title: "Other", body: "Other", hasSound: true)
        #expect(PushMessage(payload).title == "Zoë" && PushMessage(payload).body == nil && !PushMessage(payload).hasSound)
    }

    @Test func `the categories of the app stay, and ours is added where it is missing`() {
        let categories = NotificationCategories(viewImage: "Bild ansehen")
        #expect(categories.missing(from: ["APP"]) == categories.all && categories.missing(from: ["IMAGE_COMPLETE"]).isEmpty)
        #expect(categories.all.first?.actions == [.init(action: .viewImage, title: "Bild ansehen")])
    }
}
