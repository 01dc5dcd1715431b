import FCMEmulator
import HTTPClient
import TestSupport
import Testing

@Suite struct FaultTests {
    private func body(_ token: String) -> String { #"{"message":{"token":"\#(token)"}}"# }

    @Test(arguments: [
        ("INVALID_ARGUMENT", 400, "INVALID_ARGUMENT"), ("UNREGISTERED", 404, "NOT_FOUND"),
        ("SENDER_ID_MISMATCH", 403, "PERMISSION_DENIED"), ("QUOTA_EXCEEDED", 429, "RESOURCE_EXHAUSTED"),
        ("UNAVAILABLE", 503, "UNAVAILABLE"), ("INTERNAL", 500, "INTERNAL"),
        ("THIRD_PARTY_AUTH_ERROR", 401, "UNAUTHENTICATED"),
    ])
    func `each error of FCM can be injected, once`(_ code: String, _ status: Int, _ canonical: String) async throws {
        try await Fixture.run { fixture async throws in
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
    }

    @Test func `a 503 may have been delivered all the same`() async throws {
        try await Fixture.run { fixture async throws in
            let token = fixture.emulator.mintToken()
            _ = try await fixture.call("POST", "/control/faults", #"{"status":503,"delivered":true}"#)
            #expect(try await fixture.send(body(token)).status == 503)
            #expect(await fixture.emulator.messages(to: token).count == 1)
        }
    }

    @Test func `an answer can be lost after delivery`() async throws {
        try await Fixture.run { fixture async throws in
            let token = fixture.emulator.mintToken()
            _ = try await fixture.call("POST", "/control/faults", #"{"action":"drop","delivered":true}"#)
            await #expect(throws: HTTPClientError.self) { try await fixture.send(body(token)) }
            #expect(await fixture.emulator.messages(to: token).count == 1)
            #expect(try await fixture.send(body(token)).status == 200, "a new connection is accepted")
        }
    }

    @Test func `a stream can be reset, which leaves the others alone`() async throws {
        try await Fixture.run { fixture async throws in
            let (unlucky, lucky) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
            _ = try await fixture.send(body(lucky))
            var slow = FaultRule(.none)
            slow.latency = .milliseconds(300)
            slow.registration = lucky
            fixture.emulator.addFault(slow)
            var reset = FaultRule(.resetStream)
            reset.registration = unlucky
            fixture.emulator.addFault(reset)
            async let survivor = fixture.send(body(lucky))
            await #expect(throws: HTTPClientError.self) { try await fixture.send(body(unlucky)) }
            #expect(try await survivor.status == 200)
            #expect(try await survivor.response.connectionsOpened == 0)
        }
    }

    @Test func `a request can hang until the caller gives up`() async throws {
        try await Fixture.run { fixture async throws in
            fixture.emulator.addFault(FaultRule(.hang))
            let token = fixture.emulator.mintToken()
            await #expect(throws: HTTPClientError.self) { try await fixture.send(body(token), timeout: .milliseconds(300)) }
            #expect(await fixture.emulator.messages(to: token).isEmpty)
        }
    }

    @Test func `an answer can be HTML`() async throws {
        try await Fixture.run { fixture async throws in
            _ = try await fixture.call("POST", "/control/faults", #"{"action":"html","status":502}"#)
            let answer = try await fixture.send(body(fixture.emulator.mintToken()))
            #expect(answer.status == 502 && answer.text.contains("<html"))
        }
    }

    @Test func `a rule can be for one token, skip some and last a while`() async throws {
        try await Fixture.run { fixture async throws in
            let (mine, other) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
            _ = try await fixture.call(
                "POST", "/control/faults", #"{"code":"UNAVAILABLE","token":"\#(mine)","skip":1,"count":2}"#)
            var statuses: [Int] = []
            for token in [mine, other, mine, other, mine, mine] { statuses.append(try await fixture.send(body(token)).status) }
            #expect(statuses == [200, 200, 503, 200, 503, 200])
        }
    }

    @Test func `rules without a count last until they are removed`() async throws {
        try await Fixture.run { fixture async throws in
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
    }

    @Test func `the token endpoint can fail too`() async throws {
        try await Fixture.run { fixture async throws in
            _ = try await fixture.call("POST", "/control/faults", #"{"endpoint":"token","status":503}"#)
            #expect(try await fixture.send(body(fixture.emulator.mintToken())).status == 200)
            #expect(try await fixture.requestToken("").status == 503)
            #expect(try await fixture.requestToken("").status == 400)
        }
    }

    @Test(arguments: [
        "{", "[]", #"{"code":"NOPE"}"#, #"{"status":200}"#, #"{"action":"explode"}"#, #"{"colour":1}"#, #"{"count":-1}"#,
        #"{"latency_ms":999999999}"#, #"{"endpoint":"x"}"#,
    ])
    func `a rule that makes no sense is refused`(_ rule: String) async throws {
        try await Fixture.run { fixture async throws in
            let answer = try await fixture.call("POST", "/control/faults", rule)
            #expect(answer.status == 400 && answer.json["error"]?.string?.isEmpty == false)
        }
    }

    @Test func `connections can be cut, and new ones are accepted`() async throws {
        try await Fixture.run { fixture async throws in
            let token = fixture.emulator.mintToken()
            #expect(try await fixture.send(body(token)).response.connectionsOpened == 1)
            #expect(try await fixture.send(body(token)).response.connectionsOpened == 0)
            fixture.emulator.dropConnections()
            // The client may notice only when it writes; what counts is that it gets through again.
            try await eventually("a send") { (try? await fixture.send(body(token)).status) == 200 }
        }
    }
}
