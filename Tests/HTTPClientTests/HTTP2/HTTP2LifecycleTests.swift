import HTTPClient
import Logging
import TestSupport
import Testing

@Suite struct HTTP2LifecycleTests {
    /// Starts a server that counts requests and does not respond.
    static func silentServer(_ count: EventCount = EventCount()) async throws -> ScriptedServer {
        try await FramePeer.server { peer in
            while true {
                _ = try await peer.readRequest()
                count.add()
            }
        }
    }

    @Test func `a cancelled task resumes at once and its stream is reset`() async throws {
        let (requests, resets) = (EventCount(), EventCount())
        let server = try await FramePeer.server { peer in
            _ = try await peer.readRequest()
            requests.add()
            try await peer.read(FramePeer.Kind.reset)
            resets.add()
        }
        try await withHTTP2Client(server.origin) { client in
            let task = Task { try await client.failure() }
            await requests.wait(for: 1)
            task.cancel()
            let error = try await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveReachedServer == true)
            await resets.wait(for: 1)
        }
    }

    @Test func `a call is cancelled by its id, once`() async throws {
        let server = try await Self.silentServer()
        try await withHTTP2Client(server.origin) { client in
            let (answers, answer) = AsyncStream<HTTPClientError.Code?>.makeStream()
            let id = client.start(try HTTP2Request(path: "/"), body: [1]) { result in
                if case .failure(let error) = result { answer.yield(error.code) } else { answer.yield(nil) }
            }
            client.cancel(id)
            client.cancel(id)
            client.cancel(id + 1)
            var iterator = answers.makeAsyncIterator()
            #expect(await iterator.next() == .cancelled)
        }
    }

    @Test func `iterationEnded is called after the calls that ended in the iteration`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        let (completed, ended, lastIteration) = (EventCount(), EventCount(), EventCount())
        try await withHTTP2Client(
            server.origin,
            iterationEnded: {
                // Completions run on the same thread, so no call can end in between.
                if ended.count == 1000 { lastIteration.add() }
            }
        ) { client in
            let request = try HTTP2Request(path: "/")
            for _ in 0..<1000 {
                client.start(request, body: [1, 2, 3]) { result in
                    if case .success = result { completed.add() }
                    ended.add()
                }
            }
            await lastIteration.wait(for: 1)
            #expect(completed.count == 1000)
        }
    }

    @Test func `a completion may start the next call`() async throws {
        let server = try await NGHTTPServer(isTLS: false)
        try await withHTTP2Client(server.origin, configure: { $0.maxRequestsInFlight = 1 }) { client in
            let (answers, answer) = AsyncStream<Int>.makeStream()
            let request = try HTTP2Request(path: "/")
            client.start(request, body: [1]) { _ in
                client.start(request, body: [2]) { result in answer.yield((try? result.get().status) ?? 0) }
            }
            var iterator = answers.makeAsyncIterator()
            #expect(await iterator.next() == 200)
        }
    }

    @Test func `a shutdown lets calls in flight finish`() async throws {
        let (releases, release) = AsyncStream<Void>.makeStream()
        let requests = EventCount()
        let server = try await FramePeer.server { peer in
            let stream = try await peer.readRequest()
            requests.add()
            for await _ in releases { break }
            try await peer.answer(stream)
            try await peer.waitForClose()
        }
        try await withHTTP2Client(server.origin, configure: { $0.shutdownGrace = .seconds(120) }) { client in
            async let response = client.post()
            await requests.wait(for: 1)
            async let shutdown: Void = client.shutdown()
            // Calls from before the shutdown wait for a second connection in vain; they are cancelled. A refused call has no id.
            let request = try HTTP2Request(path: "/")
            try await eventually("the client refuses new calls") {
                let id = client.start(request, body: []) { _ in }
                client.cancel(id)
                return id == 0
            }
            #expect(try await client.failure()?.code == .shutDown)
            release.yield()
            #expect(try await response.status == 200)
            await shutdown
        }
    }

    @Test func `a shutdown fails calls that do not finish within the grace and sends GOAWAY`() async throws {
        let (requests, goAways) = (EventCount(), EventCount())
        let server = try await FramePeer.server { peer in
            _ = try await peer.readRequest()
            requests.add()
            try await peer.read(FramePeer.Kind.goAway)
            goAways.add()
        }
        try await withHTTP2Client(server.origin, configure: { $0.shutdownGrace = .milliseconds(50) }) { client in
            async let error = client.failure()
            await requests.wait(for: 1)
            await client.shutdown()
            let fault = try await error
            #expect(fault?.code == .shutDown)
            #expect(fault?.mayHaveReachedServer == true)
            #expect(try await client.failure()?.mayHaveReachedServer == false)
            await goAways.wait(for: 1)
        }
    }

    @Test func `a released client fails its calls in flight and ends`() async throws {
        let requests = EventCount()
        let server = try await Self.silentServer(requests)
        let (answers, answer) = AsyncStream<HTTPClientError.Code?>.makeStream()
        do {
            var configuration = HTTP2ClientConfiguration()
            (configuration.timeout, configuration.unacknowledgedTimeout) = (.seconds(120), .seconds(120))
            let client = HTTP2Client(origin: server.origin, configuration: configuration, logger: Logger(label: "test"))
            client.start(try HTTP2Request(path: "/"), body: [1]) { result in
                if case .failure(let error) = result { answer.yield(error.code) } else { answer.yield(nil) }
            }
            await requests.wait(for: 1)
        }
        var iterator = answers.makeAsyncIterator()
        #expect(await iterator.next() == .shutDown)
    }
}
