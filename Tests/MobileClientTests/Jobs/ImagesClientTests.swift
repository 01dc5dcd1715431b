import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct ImagesClientTests {
    private static let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data(repeating: 7, count: 1000)

    private let bench: JobBench
    private let client: ImagesClient
    /// What the host of pictures has; nil for a link that has expired.
    private let picture = Locked<Data?>(nil)
    private let host: ScriptedTransport

    init() throws {
        bench = try JobBench()
        host = ScriptedTransport { [picture] _ throws(TransportError) in
            picture.withLock { $0 }.map { TransportResponse(status: 200, body: $0) } ?? TransportResponse(status: 403)
        }
        client = ImagesClient(tracker: bench.tracker, sender: bench.sender, transport: host)
    }

    @Test func `an order is a form with the picture, and is kept before it is sent`() async throws {
        await bench.api.hold("POST")
        let job = try await client.process(
            Self.jpeg, template: "ink", options: .init(width: 512, quality: .high), deviceToken: "token")
        #expect(try await bench.store.task(job.id)?.kind == .imageJob)
        await bench.api.waitForRequests(1)
        let sent = try #require(await bench.api.requests.first)
        #expect(sent.path == "/v1/images/process" && sent.idempotencyKey == job.id)
        let body = String(decoding: sent.body ?? Data(), as: UTF8.self)
        for text in [
            "name=\"template_id\"\r\n\r\nink\r\n", "name=\"options\"\r\n\r\n{\"quality\":\"high\",\"width\":512}\r\n",
            "name=\"device_token\"\r\n\r\ntoken\r\n", "name=\"image\"; filename=\"picture.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n",
        ] {
            #expect(body.contains(text), "\(text)")
        }
        #expect(try #require(sent.body).range(of: Self.jpeg) != nil)
        #expect(try await client.pending() == [job])
        await bench.api.release()
        await bench.time.waitForSleepers(2)
        #expect(try await client.pending().first?.jobID == "job-1")
        // The form is not needed any more.
        #expect(bench.files.filter { $0.hasPrefix("files/") }.isEmpty)
    }

    @Test func `a picture in a file is copied and stays`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "picture")
        try Self.jpeg.write(to: file)
        let job = try await client.process(file: file, template: "ink")
        await bench.time.waitForSleepers(2)
        await bench.api.set("completed")
        #expect(await client.pushArrived(jobID: "job-1"))
        var outcomes: [JobUpdate.Outcome] = []
        for await update in client.updates(of: job.id) { if let outcome = update.outcome { outcomes.append(outcome) } }
        #expect(outcomes.count == 1)
        #expect(try Data(contentsOf: file) == Self.jpeg)
        #expect(bench.files.isEmpty)
    }

    @Test func `what the API would not take is refused before anything is kept`() async throws {
        let large = Data([0xFF, 0xD8, 0xFF]) + Data(count: ImagesClient.maxPictureBytes)
        for (picture, template, options) in [
            (large, "ink", ImagesClient.Options()), (Data(), "ink", .init()), (Data("GIF89a".utf8), "ink", .init()),
            (Self.jpeg, "", .init()), (Self.jpeg, "ink", .init(width: 15)), (Self.jpeg, "ink", .init(height: 4097)),
        ] {
            let error = await #expect(throws: HeliographError.self) {
                try await client.process(picture, template: template, options: options)
            }
            #expect(error?.code == .invalidArgument)
        }
        let error = await #expect(throws: HeliographError.self) {
            try await client.process(file: bench.root.url.appending(path: "none"), template: "ink")
        }
        #expect(error?.code == .storage)
        #expect(bench.files.isEmpty)
        #expect(await bench.api.requests.isEmpty)
    }

    @Test(arguments: 1...3)
    func `an order that the disk refuses leaves nothing`(step: Int) async throws {
        let faulty = try JobBench(operations: FaultyFiles(.fail(step: step)))
        let client = ImagesClient(tracker: faulty.tracker, sender: faulty.sender, transport: host)
        do {
            let job = try await client.process(Self.jpeg, template: "ink")
            Issue.record("step \(step) succeeded: \(job)")
        } catch {
            #expect(error.code == .storage)
            #expect(faulty.files.isEmpty)
            #expect(await faulty.api.requests.isEmpty)
        }
    }

    @Test func `a push is handled when the API has answered, also when an older request was under way`() async throws {
        let id = try await bench.orderAndAccept()
        await bench.api.hold("GET")
        await bench.poll()
        await bench.api.set("completed")
        async let isKnown = client.pushArrived(jobID: "job-1")
        await until { await bench.tracker.entries[id]?.runner.state.wanted == .push }
        await bench.api.release()
        #expect(await isKnown)
        #expect(await bench.tracker.entries[id]?.latest?.outcome?.isCompleted == true)
        #expect(await client.pushArrived(jobID: "job-9") == false)
    }

    // MARK: Results

    private func completed() async throws -> URL {
        _ = try await bench.orderAndAccept()
        await bench.api.set("completed")
        return bench.root.url.appending(path: "result")
    }

    @Test func `a picture is fetched by its link without a credential, and replaces the file`() async throws {
        let file = try await completed()
        try Data("old".utf8).write(to: file)
        picture.withLock { $0 = Self.jpeg }
        #expect(try await client.result(of: "job-1", to: file) == .jpeg)
        #expect(try Data(contentsOf: file) == Self.jpeg)
        #expect(host.sent.map(\.url.absoluteString) == ["https://cdn.example/job-1.png"])
        #expect(host.sent.allSatisfy { $0.headers.values.isEmpty })
        #expect(!bench.root.files.contains { $0.hasSuffix(".part") })
    }

    @Test func `a link that does not work, or has no picture, is replaced by the API's own answer`() async throws {
        let file = try await completed()
        for body in [nil, Data("<html>".utf8)] {
            picture.withLock { $0 = body }
            // The fake API's answer has no picture in it either.
            let error = await #expect(throws: HeliographError.self) { try await client.result(of: "job-1", to: file) }
            #expect(error?.code == .unexpectedAnswer)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(await bench.api.requests.last?.query.isEmpty == true)
        }
        #expect(!bench.root.files.contains { $0.hasSuffix(".part") })
    }

    @Test(arguments: ["", "data:image/jpeg;base64,"])
    func `a picture comes from base64 where there is no link`(prefix: String) async throws {
        let text = prefix + Self.jpeg.base64EncodedString()
        let sender = ScriptedSender { _ in
            .json(#"{"data":{"job_id":"j","status":"completed","result":{"processed_image_base64":"\#(text)"}}}"#)
        }
        let client = ImagesClient(tracker: bench.tracker, sender: sender, transport: host)
        let file = bench.root.url.appending(path: "result")
        #expect(try await client.result(of: "j", to: file) == .jpeg)
        #expect(try Data(contentsOf: file) == Self.jpeg)
        #expect(host.sent.isEmpty)
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://x/y", "/media/x", "https:///x", "javascript:1", "https://[", ""])
    func `a link that is none of the web is not followed`(link: String) async throws {
        let sender = ScriptedSender { _ in .json(#"{"data":{"status":"completed","result":{"image_url":"\#(link)"}}}"#) }
        let client = ImagesClient(tracker: bench.tracker, sender: sender, transport: host)
        await #expect(throws: HeliographError.self) { try await client.result(of: "j", to: bench.root.url.appending(path: "r")) }
        #expect(host.sent.isEmpty)
    }

    @Test func `a job without a picture has no result`() async throws {
        _ = try await bench.orderAndAccept()
        let file = bench.root.url.appending(path: "result")
        let early = await #expect(throws: HeliographError.self) { try await client.result(of: "job-1", to: file) }
        #expect(early?.code == .notFound)
        let unknown = await #expect(throws: HeliographError.self) { try await client.result(of: "job-9", to: file) }
        #expect(unknown?.code == .jobNotFound)
        let invalid = await #expect(throws: HeliographError.self) { try await client.result(of: "../me", to: file) }
        #expect(invalid?.code == .invalidArgument)
    }

    // MARK: Lists

    @Test func `a list has jobs and the cursor of the next page`() async throws {
        let sender = ScriptedSender { _ in
            .json(
                """
                {"success":true,"data":{"jobs":[{"job_id":"a","status":"completed","template_id":"ink","created_at":"2026-01-01T00:00:00Z",
                "completed_at":"2026-01-01T00:00:09Z"},{"job_id":"b","status":"new_status","template_id":"ink",
                "created_at":"2026-01-01T00:00:00Z","completed_at":null}],"next_cursor":"c"}}
                """)
        }
        let client = ImagesClient(tracker: bench.tracker, sender: sender, transport: host)
        let page = try await client.list(cursor: "x", limit: 2)
        #expect(page.jobs.map(\.id) == ["a", "b"] && page.jobs.map(\.status) == ["completed", "new_status"])
        #expect(page.next == "c" && page.jobs[1].completedAt == nil)
        #expect(await sender.sent.first?.query == [URLQueryItem(name: "limit", value: "2"), URLQueryItem(name: "cursor", value: "x")])
        await #expect(throws: HeliographError.self) { try await client.list(limit: 100) }
    }

    @Test func `a job that the app deletes ends on this device too`() async throws {
        let id = try await bench.orderAndAccept()
        try await client.delete(jobID: "job-1")
        #expect(await bench.outcome(of: id) == .expired)
        await #expect(throws: HeliographError.self) { try await client.delete(jobID: "a/b") }
    }
}
