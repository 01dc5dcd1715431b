import HTTPClient
import JSON
import TestSupport
import Testing

@testable import FCMEmulator

@Suite struct FaultTests {
    private var fixture: Fixture { .current }

    private func body(_ token: String) -> String { #"{"message":{"token":"\#(token)"}}"# }

    @Test(
        .emulator,
        arguments: [
            ("INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"), ("UNREGISTERED", 404, "NOT_FOUND"),
            ("SENDER_ID_MISMATCH", 403, "PERMISSION_DENIED"), ("QUOTA_EXCEEDED", 429, "RESOURCE_EXHAUSTED"),
            ("UNAVAILABLE", 503, "UNAVAILABLE"), ("INTERNAL", 500, "INTERNAL"),
            ("THIRD_PARTY_AUTH_ERROR", 401, "UNAUTHENTICATED"),
        ])
    func `each error of FCM can be injected, once`(_ code: String, _ status: Int, _ canonical: String) async throws {
        let token = fixture.emulator.mintToken()
        let rule = #"{"code":"\#(code)","retry_after":7}"#
        #expect(try await fixture.call("POST", "/control/faults", rule).status == 201)
        let answer = try await fixture.send(body(token))
        #expect(answer.status == status)
        #expect(answer.errorCode == code)
        #expect(answer.json["error"]?["status"]?.string == canonical)
        #expect(answer.response.header("retry-after") == "7")
        #expect(try await fixture.send(body(token)).status == 200)
    }

    @Test(.emulator) func `a push that is answered by a 503 can be delivered`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.call("POST", "/control/faults", #"{"status":503,"delivered":true}"#)
        #expect(try await fixture.send(body(token)).status == 503)
        #expect(await fixture.emulator.messages(to: token).count == 1)
    }

    @Test(.emulator) func `an answer can be lost after delivery`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.call("POST", "/control/faults", #"{"action":"drop","delivered":true}"#)
        await #expect(throws: HTTPClientError.self) { try await fixture.send(body(token)) }
        #expect(await fixture.emulator.messages(to: token).count == 1)
        #expect(try await fixture.send(body(token)).status == 200, "a new connection is accepted")
    }

    @Test(.emulator) func `a reset of a stream does not affect the others`() async throws {
        let (unlucky, lucky) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
        _ = try await fixture.send(body(lucky))
        var slow = FaultRule(.none)
        slow.latency = .milliseconds(300)
        slow.registration = lucky
        fixture.emulator.addFault(slow)
        var reset = FaultRule(.resetStream())
        reset.registration = unlucky
        fixture.emulator.addFault(reset)
        async let survivor = fixture.send(body(lucky))
        await #expect(throws: HTTPClientError.self) { try await fixture.send(body(unlucky)) }
        #expect(try await survivor.status == 200)
        #expect(try await survivor.response.connectionsOpened == 0)
    }

    @Test(.emulator) func `a request can hang until the caller gives up`() async throws {
        fixture.emulator.addFault(FaultRule(.hang))
        let token = fixture.emulator.mintToken()
        await #expect(throws: HTTPClientError.self) { try await fixture.send(body(token), timeout: .milliseconds(300)) }
        #expect(await fixture.emulator.messages(to: token).isEmpty)
    }

    @Test(.emulator) func `an answer can be HTML`() async throws {
        _ = try await fixture.call("POST", "/control/faults", #"{"action":"html","status":502}"#)
        let answer = try await fixture.send(body(fixture.emulator.mintToken()))
        #expect(answer.status == 502 && answer.text.contains("<html"))
    }

    @Test(.emulator) func `a rule can have a token, skipped requests and a count`() async throws {
        let (mine, other) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
        _ = try await fixture.call(
            "POST", "/control/faults", #"{"code":"UNAVAILABLE","token":"\#(mine)","skip":1,"count":2}"#)
        var statuses: [Int] = []
        for token in [mine, other, mine, other, mine, mine] { statuses.append(try await fixture.send(body(token)).status) }
        #expect(statuses == [200, 200, 503, 200, 503, 200])
    }

    @Test(.emulator) func `rules without a count last until they are removed`() async throws {
        let token = fixture.emulator.mintToken()
        let id = try await fixture.call("POST", "/control/faults", #"{"status":500,"count":0}"#).json["id"]?.integer
        for _ in 0..<3 { #expect(try await fixture.send(body(token)).status == 500) }
        #expect(try await fixture.call("GET", "/control/faults").json["faults"]?.elements?.count == 1)
        #expect(try await fixture.call("DELETE", "/control/faults/\(id ?? 0)").status == 204)
        #expect(try await fixture.call("DELETE", "/control/faults/\(id ?? 0)").status == 404)
        #expect(try await fixture.send(body(token)).status == 200)
        fixture.emulator.addFault(FaultRule(.hang))
        #expect(try await fixture.call("DELETE", "/control/faults").status == 204)
        #expect(try await fixture.send(body(token)).status == 200)
    }

    @Test(.emulator) func `a rule can apply to every nth request, or to a percentage`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.call("POST", "/control/faults", #"{"status":503,"every":3,"count":0}"#)
        var statuses: [Int] = []
        for _ in 0..<6 { statuses.append(try await fixture.send(body(token)).status) }
        #expect(statuses == [200, 200, 503, 200, 200, 503])
        fixture.emulator.clearFaults()
        _ = try await fixture.call("POST", "/control/faults", #"{"status":500,"percent":50,"count":0}"#)
        var failed = 0
        for _ in 0..<60 { failed += try await fixture.send(body(token)).status == 500 ? 1 : 0 }
        #expect((5...55).contains(failed), "fair coins fall outside once in 10^12 times")
    }

    @Test(.emulator) func `a rule can have a start and an end`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.call("POST", "/control/faults", #"{"status":503,"count":0,"starts_in":100,"lasts":200}"#)
        var statuses: [Int] = []
        for _ in 0..<3 {
            statuses.append(try await fixture.send(body(token)).status)
            fixture.emulator.advanceClock(seconds: 160)
        }
        #expect(statuses == [200, 503, 200])
        #expect(try await fixture.call("GET", "/control/faults").json["faults"]?.elements?.isEmpty == true)
    }

    @Test(.emulator) func `a rule can have a platform, and a retry date`() async throws {
        let (apple, android) = (fixture.emulator.mintToken(), fixture.emulator.mintToken(platform: .android))
        let rule = #"{"status":503,"platform":"android","retry_after_date_in":90}"#
        _ = try await fixture.call("POST", "/control/faults", rule)
        #expect(try await fixture.send(body(apple)).status == 200)
        let answer = try await fixture.send(body(android))
        let date = try #require(answer.response.header("retry-after"))
        #expect(answer.status == 503 && date.wholeMatch(of: /\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/) != nil)
    }

    @Test func `latencies have the requested distribution`() {
        let even = (0..<200).map { _ in FaultLatency.uniform(.milliseconds(10), .milliseconds(20)).sample() }
        #expect(even.allSatisfy { $0 >= .milliseconds(10) && $0 <= .milliseconds(20) } && Set(even).count > 100)
        let skewed = (0..<2000).map { _ in FaultLatency.logNormal(p50: .milliseconds(50), p99: .milliseconds(500)).sample() }.sorted()
        #expect(skewed[1000] > .milliseconds(40) && skewed[1000] < .milliseconds(60))
        #expect(skewed[1980] > .milliseconds(300) && skewed[1980] < .milliseconds(900))
        #expect(FaultLatency.milliseconds(7).sample() == .milliseconds(7))
    }

    @Test(.emulator) func `the token endpoint can fail too`() async throws {
        _ = try await fixture.call("POST", "/control/faults", #"{"endpoint":"token","status":503}"#)
        #expect(try await fixture.send(body(fixture.emulator.mintToken())).status == 200)
        #expect(try await fixture.requestToken("").status == 503)
        #expect(try await fixture.requestToken("").status == 400)
    }

    @Test(
        .emulator,
        arguments: [
            "{", "[]", #"{"code":"NOPE"}"#, #"{"status":200}"#, #"{"action":"explode"}"#, #"{"colour":1}"#, #"{"count":-1}"#,
            #"{"latency_ms":999999999}"#, #"{"code":"UNAVAILABLE","retry_after":"1\r\nx: y"}"#,
            #"{"percent":101}"#, #"{"reset":"X","action":"reset"}"#, #"{"latency_ms":{"min":2,"max":1}}"#, #"{"endpoint":"x"}"#,
        ])
    func `an invalid rule is refused`(_ rule: String) async throws {
        let answer = try await fixture.call("POST", "/control/faults", rule)
        #expect(answer.status == 400 && answer.json["error"]?.string?.isEmpty == false)
    }

    @Test(.emulator) func `connections can be cut, and new ones are accepted`() async throws {
        let token = fixture.emulator.mintToken()
        #expect(try await fixture.send(body(token)).response.connectionsOpened == 1)
        #expect(try await fixture.send(body(token)).response.connectionsOpened == 0)
        fixture.emulator.dropConnections()
        // The client may notice the cut only when it writes, so that a first send may fail.
        try await eventually("a send") { (try? await fixture.send(body(token)).status) == 200 }
    }
}
