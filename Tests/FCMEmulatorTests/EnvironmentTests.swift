import HTTPClient
import JSON
import Testing

@testable import FCMEmulator

/// Tests the emulator's environment: clock, quota, tokens and phones that are off.
@Suite struct EnvironmentTests {
    private var fixture: Fixture { .current }

    private func body(_ token: String, _ more: String = "") -> String { #"{"message":{"token":"\#(token)"\#(more)}}"# }

    @Test(.emulator { $0.quotaPerMinute = 2 }) func `the quota is a bucket that is refilled completely a minute after its first use`()
        async throws
    {
        let token = fixture.emulator.mintToken()
        var statuses: [Int] = []
        for _ in 0..<2 { statuses.append(try await fixture.send(body(token)).status) }
        let refused = try await fixture.send(body(token))
        #expect(statuses == [200, 200] && refused.status == 429 && refused.errorCode == "QUOTA_EXCEEDED")
        let wait = try #require(refused.response.header("retry-after").flatMap { Int($0) })
        #expect((1...60).contains(wait))
        _ = try await fixture.call("POST", "/control/clock", #"{"advance_seconds":60}"#)
        #expect(try await fixture.send(body(token)).status == 200)
        #expect(try await fixture.call("POST", "/control/quota", #"{"per_minute":0}"#).status == 200)
        #expect(try await fixture.send(body(token)).status == 429)
        #expect(try await fixture.call("DELETE", "/control/quota").status == 204)
        #expect(try await fixture.send(body(token)).status == 200)
    }

    @Test(.emulator { $0.quotaPerMinute = 1 }) func `refused requests count against the quota too`() async throws {
        #expect(try await fixture.send("{}").status == 400)
        #expect(try await fixture.send(body(fixture.emulator.mintToken())).status == 429)
    }

    @Test(.emulator) func `access tokens expire by the emulator's clock`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.call("POST", "/control/clock", #"{"advance_seconds":3600}"#)
        #expect(try await fixture.send(body(token)).status == 401)
        _ = try await fixture.call("DELETE", "/control/clock")
        #expect(try await fixture.send(body(token)).status == 200)
    }

    @Test(.emulator) func `a token rotates: the old one is dead, the new one is of the same installation`() async throws {
        let old = fixture.emulator.mintToken()
        let new = try #require(try await fixture.call("POST", "/control/tokens/\(old)/rotate").json["token"]?.string)
        #expect(new != old && new.prefix(22) == old.prefix(22))
        #expect(try await fixture.send(body(old)).status == 404)
        #expect(try await fixture.send(body(new)).status == 200)
        #expect(try await fixture.call("POST", "/control/tokens/\(old)/rotate").status == 404)
    }

    @Test(.emulator) func `a token expires, and can be revived`() async throws {
        let answer = try await fixture.call("POST", "/control/tokens", #"{"expires_in":60}"#)
        let token = try #require(answer.json["token"]?.string)
        #expect(try await fixture.send(body(token)).status == 200)
        fixture.emulator.advanceClock(seconds: 61)
        #expect(try await fixture.send(body(token)).status == 404)
        #expect(try await fixture.call("GET", "/control/tokens/\(token)").json["alive"] == false)
        #expect(try await fixture.call("POST", "/control/tokens/\(token)/revive").status == 204)
        #expect(try await fixture.send(body(token)).status == 200)
        #expect(try await fixture.call("POST", "/control/tokens/\(token)/expire").status == 204)
        #expect(try await fixture.send(body(token)).status == 404)
    }

    @Test(.emulator) func `a token of another sender id is a mismatch`() async throws {
        let mine = try await fixture.call("POST", "/control/tokens", #"{"sender_id":"438712605913"}"#).json["token"]?.string
        let theirs = try await fixture.call("POST", "/control/tokens", #"{"sender_id":"1"}"#).json["token"]?.string
        #expect(try await fixture.send(body(mine ?? "")).status == 200)
        #expect(try await fixture.send(body(theirs ?? "")).errorCode == "SENDER_ID_MISMATCH")
    }

    @Test(.emulator) func `a phone that was off gets the newest message of four collapse keys and those without one`() async throws {
        let token = fixture.emulator.mintToken(platform: .android)
        func push(_ title: String, _ android: String = "") async throws {
            let more = #","notification":{"title":"\#(title)"},"android":{\#(android)}"#
            #expect(try await fixture.send(body(token, more)).status == 200)
        }
        func titles() async throws -> [String?] {
            try await fixture.call("GET", "/control/inbox?token=" + token).json["cards"]?.elements?.map { $0["title"]?.string } ?? []
        }
        #expect(try await fixture.call("POST", "/control/tokens/\(token)/offline").status == 204)
        try await push("plain")
        for key in ["a", "b", "c", "d", "e", "e"] { try await push(key, #""collapse_key":"\#(key)""#) }
        try await push("too late", #""ttl":"30s""#)
        #expect(try await titles() == [])
        fixture.emulator.advanceClock(seconds: 60)
        let answer = try await fixture.call("POST", "/control/tokens/\(token)/online")
        #expect(answer.json["delivered"] == 5 && answer.json["deleted_messages"] == false)
        #expect(try await titles() == ["plain", "b", "c", "d", "e"], "four keys are kept")
    }

    @Test(.emulator) func `a phone that comes back hides no push to another from the stream`() async throws {
        let emulator = fixture.emulator
        let (away, other) = (emulator.mintToken(platform: .android), emulator.mintToken())
        _ = try await fixture.call("POST", "/control/tokens/\(away)/offline")
        _ = try await fixture.send(body(away, #","notification":{"title":"late"}"#))
        let (all, own) = (try #require(emulator.core.inbox.subscribe(to: nil)), try #require(emulator.core.inbox.subscribe(to: away)))
        // The first is published at once, the second only later.
        for title in ["a", "b"] { _ = try await fixture.send(body(other, #","notification":{"title":"\#(title)"}"#)) }
        _ = try await fixture.call("POST", "/control/tokens/\(away)/online")
        emulator.core.inbox.close()
        func titles(_ stream: AsyncStream<Inbox.Event>) async -> [String] {
            await stream.reduce(into: []) { titles, event in if case .card(let card) = event { titles.append(card.title) } }
        }
        #expect(await titles(all) == ["a", "b", "late"])
        #expect(await titles(own) == ["late"])
    }

    @Test(.emulator) func `more than a hundred waiting messages are dropped, and the app gets a notice`() async throws {
        let token = fixture.emulator.mintToken(platform: .android)
        _ = try await fixture.call("POST", "/control/tokens/\(token)/offline")
        for _ in 0...100 { _ = try await fixture.send(body(token)) }
        let answer = try await fixture.call("POST", "/control/tokens/\(token)/online")
        #expect(answer.json["delivered"] == 0 && answer.json["deleted_messages"] == true)
    }

    @Test(.emulator) func `the metadata server issues tokens only to requests with its header`() async throws {
        let url = fixture.emulator.url + "/computeMetadata/v1/instance/service-accounts/default/token"
        let answer = try await fixture.client.execute(
            HTTPClientRequest(method: "GET", url: url, headers: [("metadata-flavor", "Google")]))
        let token = try #require(JSONValue(parsing: answer.body)["access_token"]?.string)
        #expect(try await fixture.send(#"{"message":{"topic":"t"}}"#, authorization: "Bearer " + token).status == 200)
        #expect(try await fixture.client.execute(HTTPClientRequest(method: "GET", url: url)).status == 403)
    }

    @Test(.emulator) func `the push for Apple has FCM's own keys and defaults`() async throws {
        let token = fixture.emulator.mintToken()
        let more =
            #","notification":{"title":"t","body":"b"},"data":{"k":"v"},"apns":{"headers":{"apns-collapse-id":"c"},"#
            + #""payload":{"aps":{"badge":3,"alert":{"title":"own"}}},"fcm_options":{"image":"https://e.com/i.jpg"}}"#
        #expect(try await fixture.send(body(token, more)).status == 200)
        let answer = try await fixture.call("GET", "/control/messages?token=" + token)
        let apns = try #require(answer.json["messages"]?[0]?["apns"])
        #expect(apns["headers"]?["apns-collapse-id"] == "c" && apns["headers"]?["apns-priority"] == "10")
        #expect(apns["headers"]?["apns-push-type"] == "alert" && apns["headers"]?["apns-expiration"] != nil)
        let payload = try #require(apns["payload"])
        #expect(payload["aps"]?["alert"] == ["title": "own", "body": "b"] && payload["aps"]?["badge"] == 3)
        #expect(payload["k"] == "v" && payload["fcm_options"]?["image"] == "https://e.com/i.jpg")
        #expect(payload["google.c.fid"]?.string == String(token.prefix(22)))
        #expect(payload["google.c.sender.id"] == "438712605913" && payload["gcm.message_id"]?.string?.isEmpty == false)
    }

    @Test(.emulator) func `the log has the outcome of each request`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.send(body(token))
        _ = try await fixture.send(body(token, #","x":1"#))
        _ = try await fixture.call("POST", "/control/faults", #"{"status":503,"delivered":true}"#)
        _ = try await fixture.send(body(token))
        let requests = try #require(try await fixture.call("GET", "/control/requests").json["requests"]?.elements)
        #expect(requests.map { $0["status"]?.integer } == [200, 400, 503])
        #expect(requests.map { $0["accepted"]?.boolean } == [true, false, true])
        #expect(requests[1]["body"]?.string?.contains(#""x":1"#) == true && requests[2]["fault"]?.integer != nil)
        #expect(try await fixture.call("GET", "/control/requests?status=503").json["requests"]?.elements?.count == 1)
        let statistics = try await fixture.call("GET", "/control/statistics").json
        #expect(statistics["by_status"] == ["200": 1, "400": 1, "503": 1])
        #expect(statistics["registrations_by_messages"] == ["2": 1])
    }
}
