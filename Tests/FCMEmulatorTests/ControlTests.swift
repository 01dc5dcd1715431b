import Foundation
import JSON
import TestSupport
import Testing

@testable import FCMEmulator

@Suite struct ControlTests {
    private var fixture: Fixture { .current }

    private func message(_ token: String, _ title: String) -> String {
        #"{"message":{"token":"\#(token)","notification":{"title":"\#(title)"}}}"#
    }

    @Test(.emulator) func `a minted token has the shape of a real one and can be sent to`() async throws {
        let answer = try await fixture.call("POST", "/control/tokens")
        let token = try #require(answer.json["token"]?.string)
        #expect(answer.json.members?.map(\.name) == ["token"])
        #expect(token.wholeMatch(of: /[cdef][A-Za-z0-9_-]{21}:APA91b[A-Za-z0-9_-]{113}/) != nil)
        #expect(try await fixture.send(message(token, "x")).status == 200)
    }

    @Test(.emulator) func `an installation id can be minted, and nonsense is refused`() async throws {
        let answer = try await fixture.call("POST", "/control/tokens", #"{"kind":"fid","platform":"android"}"#)
        #expect(answer.json["fid"]?.string?.utf8.count == 22)
        for body in ["{", #"{"kind":"x"}"#, #"{"platform":"palm"}"#] {
            #expect(try await fixture.call("POST", "/control/tokens", body).status == 400)
        }
    }

    @Test(.emulator) func `phones are listed with names, those with the newest pushes first`() async throws {
        let tokens = [DevicePlatform.ios, .android, .ios].map { fixture.emulator.mintToken(platform: $0) }
        for (token, title) in [(tokens[0], "1"), (tokens[1], "2"), (tokens[0], "3")] {
            _ = try await fixture.send(message(token, title))
        }
        fixture.emulator.deleteToken(tokens[1])
        let answer = try await fixture.call("GET", "/control/tokens")
        let phones = try #require(answer.json["tokens"]?.elements)
        #expect(phones.map { $0["name"]?.string } == ["iPhone 1", "Android 2", "iPhone 3"])
        #expect(phones.map { $0["token"]?.string } == [tokens[0], tokens[1], tokens[2]])
        #expect(phones.map { $0["accepted"]?.integer } == [2, 1, 0])
        #expect(phones.map { $0["last"]?["title"]?.string } == ["3", "2", nil])
        #expect(phones.map { $0["alive"]?.boolean } == [true, false, true])
        #expect(answer.json["total"] == 3)
    }

    @Test(.emulator) func `phones are found by a part of the token, and by the name`() async throws {
        let tokens = [DevicePlatform.ios, .android].map { fixture.emulator.mintToken(platform: $0) }
        for (search, found) in [(String(tokens[0].suffix(30)), [tokens[0]]), ("android%202", [tokens[1]]), ("nothing-has-this", [])] {
            let answer = try await fixture.call("GET", "/control/tokens?search=" + search)
            #expect(answer.json["tokens"]?.elements?.map { $0["token"]?.string } == found)
            #expect(answer.json["total"]?.integer == found.count)
        }
    }

    @Test(.emulator) func `a list of phones has up to as many as are asked for, and says how many there are`() async throws {
        for _ in 0..<3 { _ = fixture.emulator.mintToken() }
        let answer = try await fixture.call("GET", "/control/tokens?count=2")
        #expect(answer.json["tokens"]?.elements?.map { $0["name"]?.string } == ["iPhone 3", "iPhone 2"])
        #expect(answer.json["total"] == 3)
        for count in ["-1", "1001", "x"] { #expect(try await fixture.call("GET", "/control/tokens?count=" + count).status == 400) }
    }

    @Test(.emulator) func `an installation that registers again keeps its name`() async throws {
        let fid = fixture.emulator.mintFID()
        _ = fixture.emulator.mintToken()
        _ = fixture.emulator.mintFID(fid: fid)
        #expect(try await fixture.call("GET", "/control/tokens/" + fid).json["name"] == "iPhone 1")
    }

    @Test(.emulator) func `a deleted token is unregistered`() async throws {
        let token = fixture.emulator.mintToken()
        #expect(try await fixture.call("DELETE", "/control/tokens/" + token).status == 204)
        #expect(try await fixture.call("DELETE", "/control/tokens/" + token).status == 404)
        let answer = try await fixture.send(message(token, "x"))
        #expect(answer.status == 404 && answer.errorCode == "UNREGISTERED")
    }

    @Test(.emulator) func `messages are listed by token, with name, time and message`() async throws {
        let (a, b) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
        for (token, title) in [(a, "1"), (b, "2"), (a, "3")] { _ = try await fixture.send(message(token, title)) }
        let mine = try await fixture.call("GET", "/control/messages?token=" + a)
        let messages = try #require(mine.json["messages"]?.elements)
        #expect(messages.map { $0["message"]?["notification"]?["title"]?.string } == ["1", "3"])
        #expect(messages[0].members?.map(\.name) == ["name", "received_at", "message", "apns"])
        #expect(messages[0]["received_at"]?.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        #expect(try await fixture.call("GET", "/control/messages").json["messages"]?.elements?.count == 3)
        #expect(try await fixture.call("DELETE", "/control/messages").status == 204)
        #expect(try await fixture.call("GET", "/control/messages").json["messages"]?.elements?.count == 0)
    }

    @Test(.emulator) func `a wait ends when its phone gets a message, and not with another phone's`() async throws {
        let (mine, other) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
        async let answer = fixture.call("GET", "/control/messages?wait=60&token=" + mine, timeout: .seconds(120))
        try await eventually("a waiter") { fixture.emulator.core.inbox.audience.waiters == 1 }
        _ = try await fixture.send(message(other, "theirs"))
        try await eventually("a waiter again") { fixture.emulator.core.inbox.audience.waiters == 1 }
        _ = try await fixture.send(message(mine, "mine"))
        #expect(try await answer.json["messages"]?[0]?["message"]?["notification"]?["title"] == "mine")
    }

    @Test(.emulator) func `all messages can be read by number, page by page`() async throws {
        let (a, b) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
        func titles(_ answer: Fixture.Answer) -> [String?]? {
            answer.json["messages"]?.elements?.map { $0["message"]?["notification"]?["title"]?.string }
        }
        for (token, title) in [(a, "1"), (b, "2")] { _ = try await fixture.send(message(token, title)) }
        let first = try await fixture.call("GET", "/control/messages?after=0")
        #expect(titles(first) == ["1", "2"] && first.json["next"]?.integer == 2)
        let end = try await fixture.call("GET", "/control/messages?after=\(Int.max)")
        #expect(titles(end) == [] && end.json["next"]?.integer == 2)
        async let next = fixture.call("GET", "/control/messages?after=2&wait=60", timeout: .seconds(120))
        try await eventually("a waiter") { fixture.emulator.core.inbox.audience.waiters == 1 }
        _ = try await fixture.send(message(a, "3"))
        #expect(titles(try await next) == ["3"])
        #expect(try await fixture.call("GET", "/control/messages?after=-1").status == 400)
    }

    @Test(.emulator) func `a wait can be for several messages`() async throws {
        let token = fixture.emulator.mintToken()
        async let answer = fixture.call("GET", "/control/messages?wait=60&count=2&token=" + token, timeout: .seconds(120))
        for title in ["1", "2"] { _ = try await fixture.send(message(token, title)) }
        #expect(try await answer.json["messages"]?.elements?.count == 2)
    }

    @Test(.emulator) func `a wait without a message ends at its limit with an empty list`() async throws {
        let answer = try await fixture.call("GET", "/control/messages?wait=1")
        #expect(answer.status == 200 && answer.json["messages"]?.elements?.isEmpty == true)
    }

    @Test(.emulator) func `a cancelled wait is removed`() async throws {
        let inbox = fixture.emulator.core.inbox
        let waiting = Task { await inbox.messages(to: nil, atLeast: 1, within: .seconds(60)) }
        try await eventually("a waiter") { inbox.audience.waiters == 1 }
        waiting.cancel()
        #expect(await waiting.value.isEmpty)
        #expect(inbox.audience.waiters == 0)
    }

    @Test(.emulator, arguments: ["wait=-1", "wait=61", "wait=x", "count=-1"])
    func `a wait out of range is refused`(_ query: String) async throws {
        #expect(try await fixture.call("GET", "/control/messages?" + query).status == 400)
    }

    @Test(.emulator { $0.limits.messages = 3 }) func `only the newest messages are kept, up to a limit`() async throws {
        let token = fixture.emulator.mintToken()
        for title in 1...5 { _ = try await fixture.send(message(token, "\(title)")) }
        let titles = await fixture.emulator.messages().map { $0.message["notification"]?["title"]?.string }
        #expect(titles == ["3", "4", "5"])
    }

    @Test(.emulator) func `a second listener on the same port fails with an error`() async throws {
        var configuration = fixture.emulator.configuration
        configuration.port = try #require(fixture.emulator.port)
        let second = FCMEmulator(configuration: configuration)
        await #expect { try await second.start() } throws: { ($0 as? EmulatorError)?.code == .cannotListen }
    }

    @Test func `a running emulator is healthy, a stopped one is not`() async throws {
        // The emulator of no other test gets this port afterwards.
        let port = try FreePort.find()
        try await Fixture.run({ $0.port = port }) {
            try await eventually("it answers") { await FCMEmulator.isAnswering(port: port) }
        }
        #expect(await !FCMEmulator.isAnswering(port: port))
    }
}
