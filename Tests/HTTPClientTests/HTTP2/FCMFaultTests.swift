import FCMEmulator
import HTTPClient
import TestSupport
import Testing

/// FCM's faults: they must be classified as over ``HTTPClient``, or a push is lost or sent twice.
@Suite struct FCMFaultTests {
    struct Fixture {
        let emulator: FCMEmulator
        let client: HTTP2Client
        let request: HTTP2Request

        func push() async throws -> Result<HTTPClientResponse, HTTPClientError> {
            let body = #"{"message":{"token":"\#(emulator.mintToken())","data":{"key":"value"}}}"#
            do throws(HTTPClientError) {
                return .success(try await client.execute(request, body: Array(body.utf8)))
            } catch {
                return .failure(error)
            }
        }

        /// The number of delivered messages, over all registrations.
        var acceptedCount: Int { emulator.acceptedCounts.reduce(0) { $0 + $1.key * $1.value } }
    }

    static func with(
        _ rule: FaultRule?, configure: (inout HTTP2ClientConfiguration) -> Void = { _ in }, _ body: (Fixture) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let configuration = FCMEmulatorConfiguration(directory: directory.path)
        let emulator = FCMEmulator(configuration: configuration)
        try await emulator.start()
        if let rule { emulator.addFault(rule) }
        let headers = [("Authorization", "Bearer " + emulator.issueAccessToken()), ("Content-Type", "application/json")]
        let request = try HTTP2Request(path: "/v1/projects/\(configuration.projectID)/messages:send", headers: headers)
        let settings: (inout HTTP2ClientConfiguration) -> Void = {
            $0.caFile = configuration.certificateFile
            configure(&$0)
        }
        try await withHTTP2Client(emulator.tlsURL ?? "", configure: settings) { client in
            try await body(Fixture(emulator: emulator, client: client, request: request))
        }
        await emulator.stop()
    }

    @Test func `a refusal has its Retry-After header`() async throws {
        var rule = FaultRule(.error(.unavailable))
        rule.retryAfter = "17"
        try await Self.with(rule) { fixture in
            let response = try await fixture.push().get()
            #expect(response.status == 503)
            #expect(response.header("Retry-After") == "17")
            #expect(String(decoding: response.body, as: UTF8.self).contains("UNAVAILABLE"))
        }
    }

    @Test(arguments: [FaultRule.Effect.resetStream(.internalError), .resetStream(.cancel), .dropConnection], [true, false])
    func `a lost response is ambiguous`(effect: FaultRule.Effect, isDelivered: Bool) async throws {
        var rule = FaultRule(effect)
        rule.isDelivered = isDelivered
        try await Self.with(rule) { fixture in
            let error = try await Self.error(of: fixture.push())
            #expect(error?.code == .ambiguous)
            #expect(error?.mayHaveReachedServer == true)
            #expect(fixture.acceptedCount == (isDelivered ? 1 : 0))
            #expect(try await fixture.push().get().status == 200)
        }
    }

    @Test func `no push is lost when FCM closes connections with GOAWAY`() async throws {
        var rule = FaultRule(.goAway)
        rule.every = 10
        rule.count = 3
        try await Self.with(rule) { fixture in
            for _ in 0..<35 {
                let response = try await fixture.push().get()
                #expect(response.status == 200)
            }
            #expect(fixture.acceptedCount == 35)
            #expect(fixture.emulator.statistics.goAways == 3)
            #expect(fixture.emulator.statistics.connections == 4)
        }
    }

    @Test func `of many concurrent pushes those refused by GOAWAY are sent again, and no others`() async throws {
        var rule = FaultRule(.goAway)
        rule.skip = 50
        rule.every = 100
        rule.count = 3
        try await Self.with(rule) { fixture in
            try await race(500) { _ in
                while true {
                    switch try await fixture.push() {
                    case .success(let response): return #expect(response.status == 200)
                    case .failure(let error): try #require(error.code == .notSent, "\(error)")
                    }
                }
            }
            #expect(fixture.acceptedCount == 500)
        }
    }

    private static func error(of result: Result<HTTPClientResponse, HTTPClientError>) -> HTTPClientError? {
        if case .failure(let error) = result { return error }
        return nil
    }
}
