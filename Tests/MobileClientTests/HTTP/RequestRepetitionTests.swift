import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct RequestRepetitionTests {
    private static let lost = TransportError(.connectionLost, "lost")

    /// Sends a request; returns the number of attempts and the waits between them.
    private func attempts(
        _ answer: Result<TransportResponse, TransportError>, method: String = "GET", key: UUID? = nil
    ) async throws -> (count: Int, sleeps: [Duration]) {
        let fixture = try ClientFixture(Array(repeating: answer, count: 5))
        var request = ClientFixture.get()
        (request.method, request.idempotencyKey) = (method, key)
        await #expect(throws: HeliographError.self) { try await fixture.client.send(request) }
        return (fixture.transport.sent.count, fixture.time.sleeps)
    }

    @Test func `a request without an answer is sent three times, with growing waits`() async throws {
        for code in [TransportError.Code.connectionLost, .notConnected, .timedOut] {
            let (count, sleeps) = try await attempts(.failure(TransportError(code, "")))
            #expect(count == 3 && sleeps == [.milliseconds(500), .seconds(1)])
        }
    }

    @Test(arguments: [500, 502, 503, 504]) func `an error of the server is asked again`(status: Int) async throws {
        #expect(try await attempts(.success(.failure(status, "internal", retryable: true))).count == 3)
        #expect(try await attempts(.success(TransportResponse(status: status))).count == 3)
    }

    @Test(arguments: [400, 401, 403, 404, 413, 422, 501]) func `an error that stays is not asked again`(status: Int) async throws {
        #expect(try await attempts(.success(TransportResponse(status: status))).count == 1)
    }

    @Test func `an error that the API says stays is not asked again`() async throws {
        #expect(try await attempts(.success(.failure(503, "overloaded", retryable: false))).count == 1)
    }

    @Test(arguments: [429, 503]) func `the time that the API names is waited, up to half a minute`(status: Int) async throws {
        let (count, sleeps) = try await attempts(.success(.failure(status, "rate_limited", retryable: true, retryAfter: 30)))
        #expect(count == 3 && sleeps == [.seconds(30.5), .seconds(30.5)])
        #expect(try await attempts(.success(.failure(status, "rate_limited", retryable: true, retryAfter: 31))).count == 1)
        let header: TransportHeaders = ["Retry-After": "7"]
        #expect(try await attempts(.success(TransportResponse(status: status, headers: header))).sleeps == [.seconds(7.5), .seconds(7.5)])
    }

    @Test func `a limit without a time is not asked again`() async throws {
        #expect(try await attempts(.success(.failure(429, "rate_limited", retryable: true))).count == 1)
    }

    @Test func `a first attempt that is in progress is waited for`() async throws {
        let answer = TransportResponse.failure(409, "request_in_progress", retryable: true, retryAfter: 1)
        #expect(try await attempts(.success(answer), method: "POST", key: UUID()).count == 3)
        #expect(try await attempts(.success(.failure(409, "limit_reached", retryable: true)), method: "POST", key: UUID()).count == 1)
    }

    @Test func `only what does no more than the first request is sent again`() async throws {
        for method in ["GET", "HEAD", "PUT", "DELETE"] { #expect(try await attempts(.failure(Self.lost), method: method).count == 3) }
        for method in ["POST", "PATCH"] {
            #expect(try await attempts(.failure(Self.lost), method: method).count == 1)
            #expect(try await attempts(.failure(Self.lost), method: method, key: UUID()).count == 3)
        }
    }

    @Test(arguments: [TransportError.Code.cancelled, .tooLong, .untrusted, .file]) func `some faults are not asked again`(
        code: TransportError.Code
    ) async throws {
        #expect(try await attempts(.failure(TransportError(code, ""))).count == 1)
    }

    @Test func `waits are spread from nothing to their bound, which has a cap`() {
        let error = HeliographError(.unreachable, "", isRetryable: true)
        for (random, expected) in [(0.0, Duration.zero), (0.5, .milliseconds(250)), (1, .milliseconds(500))] {
            #expect(RequestRepetition(random: { random }).delay(after: error, attempt: 1) == expected)
        }
        let patient = RequestRepetition(maxAttempts: 100, random: { 1 })
        #expect((1...99).compactMap { patient.delay(after: error, attempt: $0) }.max() == .seconds(20))
        #expect(patient.delay(after: error, attempt: 100) == nil)
    }

    @Test func `the budget of all requests is ten repetitions, and one for ten successes`() async throws {
        let isDown = Locked(true)
        let transport = ScriptedTransport { _ throws(TransportError) in
            if isDown.withLock({ $0 }) { throw Self.lost }
            return .json("{}")
        }
        let fixture = try ClientFixture(transport)
        for _ in 0..<20 { await #expect(throws: HeliographError.self) { try await fixture.client.send(ClientFixture.get()) } }
        #expect(transport.sent.count == 20 + 10)
        isDown.withLock { $0 = false }
        for _ in 0..<11 { _ = try await fixture.client.send(ClientFixture.get()) }
        isDown.withLock { $0 = true }
        await #expect(throws: HeliographError.self) { try await fixture.client.send(ClientFixture.get()) }
        #expect(transport.sent.count == 30 + 11 + 2)
    }

    @Test func `a task that is cancelled while it waits sends nothing more`() async throws {
        let time = ManualTime()
        let transport = ScriptedTransport { _ throws(TransportError) in throw Self.lost }
        let folder = try TemporaryFolder()
        let client = APIClient(
            configuration: try ClientConfiguration(
                baseURL: #require(URL(string: "https://a.example")), appVersion: "1", folder: folder.url), transport: transport,
            credentials: FileCredentialStore(file: folder.url.appendingPathComponent("c")), firebase: nil, time: time.source,
            repetition: RequestRepetition(random: { 1 }))
        let task = Task { try await client.send(ClientFixture.get()) }
        await time.waitForSleepers()
        task.cancel()
        let error = await #expect(throws: HeliographError.self) { try await task.value }
        #expect(error?.code == .cancelled && transport.sent.count == 1)
    }
}
