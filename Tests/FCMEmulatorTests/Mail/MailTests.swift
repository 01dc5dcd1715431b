import Foundation
import JSON
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import FCMEmulator

/// The mail listener over a socket, and the control API of its mails.
@Suite struct MailTests {
    private var emulator: FCMEmulator { Fixture.current.emulator }

    /// Says everything at once, as PIPELINING allows, and returns the replies until the server closes the connection, or up to `last`.
    private func say(_ text: String, until last: String? = nil) async throws -> String {
        let port = try #require(emulator.smtpURL?.split(separator: ":").last.flatMap { Int($0) })
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel) }
            }
        return try await channel.executeThenClose { inbound, outbound in
            // A server that refuses the connection may have closed it before.
            if !text.isEmpty { try await outbound.write(ByteBuffer(string: text)) }
            var replies = ByteBuffer()
            for try await var bytes in inbound {
                replies.writeBuffer(&bytes)
                if let last, String(buffer: replies).hasSuffix(last) { break }
            }
            return String(buffer: replies)
        }
    }

    private func codes(_ text: String) async throws -> [Int] {
        try await say(text).split(separator: "\r\n").filter { $0.dropFirst(3).first == " " }.compactMap { Int($0.prefix(3)) }
    }

    /// The commands of a mail that is sent in the clear.
    private func mail(to recipients: [String] = ["ann@example.org"], subject: String = "Hello") -> String {
        let commands = ["EHLO app", "MAIL FROM:<app@example.com>"] + recipients.map { "RCPT TO:<\($0)>" }
        return (commands + ["DATA", "Subject: \(subject)", "", "text", ".", "QUIT", ""]).joined(separator: "\r\n")
    }

    private func fault(_ body: String) async throws {
        #expect(try await Fixture.current.call("POST", "/control/faults", body).status == 201)
    }

    // MARK: The listener

    @Test(.emulator { $0.smtpPort = 0 }) func `commands may come all at once`() async throws {
        #expect(try await codes(mail()) == [220, 250, 250, 250, 354, 250, 221])
        let received = try #require(await emulator.mails().first)
        #expect(received.subject == "Hello" && received.text == "text\n" && received.from == "app@example.com" && !received.isTLS)
    }

    @Test(.emulator { $0.smtpPort = 0 }) func `commands in the clear are no part of the conversation after STARTTLS`() async throws {
        let ready = "220 2.0.0 go ahead\r\n"
        #expect(try await say("EHLO x\r\nSTARTTLS\r\n" + mail(), until: ready).hasSuffix(ready))
        try await eventually("the connection has ended") { emulator.statistics.openMailConnections == 0 }
        #expect(await emulator.mails().isEmpty)
    }

    @Test(.emulator { $0.smtpPort = 0 }, arguments: ["NOOP\nQUIT\r\n", String(repeating: "x", count: 12_288), "NO\rOP\r\n"])
    func `a line that is none ends the connection`(line: String) async throws {
        #expect(try await codes(line) == [220, 500])
    }

    @Test(.emulator { ($0.smtpPort, $0.limits.mailConnections) = (0, 0) }) func `connections have a limit`() async throws {
        #expect(try await codes("") == [421])
    }

    @Test(.emulator { ($0.smtpPort, $0.limits.mailIdleSeconds) = (0, 1) }) func `a connection without commands is closed`() async throws {
        #expect(try await codes("EHLO x\r\n") == [220, 250, 421])
    }

    // MARK: The control API

    @Test(.emulator { $0.smtpPort = 0 }) func `mails are shown by recipient and number, and forgotten`() async throws {
        _ = try await say(mail(to: ["ann@example.org", "bob@example.org"], subject: "one"))
        _ = try await say(mail(to: ["bob@example.org"], subject: "two"))
        let fixture = Fixture.current
        func subjects(_ query: String) async throws -> [String?] {
            try await fixture.call("GET", "/control/mails" + query).json["mails"]?.elements?.map { $0["subject"]?.string } ?? []
        }
        #expect(try await subjects("") == ["one", "two"])
        #expect(try await subjects("?to=Ann@example.org") == ["one"])
        #expect(try await subjects("?to=bob@example.org&after=1") == ["two"])
        #expect(try await subjects("?after=2") == [])
        let answer = try await fixture.call("GET", "/control/mails?count=2&wait=60").json
        #expect(answer["next"] == 2)
        #expect(answer["mails"]?[0]?["to"] == ["ann@example.org", "bob@example.org"] && answer["mails"]?[0]?["text"] == "text\n")
        #expect(try await fixture.call("DELETE", "/control/mails").status == 204)
        #expect(try await subjects("") == [])
        for query in ["wait=61", "wait=x", "count=-1", "after=-1"] {
            #expect(try await fixture.call("GET", "/control/mails?" + query).status == 400, "\(query)")
        }
    }

    @Test(.emulator { $0.smtpPort = 0 }) func `a request waits for a mail to its address`() async throws {
        let fixture = Fixture.current
        async let answer = fixture.call("GET", "/control/mails?to=ann@example.org&wait=60", timeout: .seconds(120))
        try await eventually("a request waits") { emulator.core.mailbox.waiterCount == 1 }
        _ = try await say(mail(to: ["bob@example.org"], subject: "his"))
        _ = try await say(mail(subject: "hers"))
        #expect(try await answer.json["mails"]?.elements?.map { $0["subject"] } == ["hers"])
        #expect(emulator.core.mailbox.waiterCount == 0)
    }

    @Test(.emulator { ($0.smtpPort, $0.limits.mails) = (0, 2) }) func `only the newest mails are kept`() async throws {
        for subject in ["one", "two", "three"] { _ = try await say(mail(subject: subject)) }
        #expect(await emulator.mails().map(\.subject) == ["two", "three"])
    }

    @Test(.emulator { $0.smtpPort = 0 }) func `the stream of the page begins with the mails and continues with new ones`() async throws {
        let fixture = Fixture.current
        _ = try await say(mail(subject: "before"))
        async let stream = fixture.call("GET", "/control/stream", timeout: .seconds(120))
        try await eventually("a stream") { emulator.core.inbox.audience.streams == 1 }
        _ = try await say(mail(subject: "after"))
        emulator.clearMails()
        emulator.core.inbox.close()
        let lines = try await stream.text.split(separator: "\n")
        let events = lines.filter { $0.hasPrefix("event: ") }.map { String($0.dropFirst(7)) }
        #expect(events == ["snapshot", "mails", "mail", "mails"])
        let data = lines.filter { $0.hasPrefix("data: ") }.map { try? JSONValue(parsing: Array($0.dropFirst(6).utf8)) }
        #expect(data[1]?[0]?["subject"] == "before" && data[2]?["subject"] == "after" && data[3] == [])
    }

    @Test(.emulator { $0.smtpPort = 0 }, .enabled(if: Chromium.path != nil, "not tried in a browser: chromium is missing"))
    func `a browser shows the mails, the newest on top, with codes set apart`() async throws {
        _ = try await say(mail(subject: "Hello <b>Ann</b>"))
        _ = try await say(mail(subject: "Code 1").replacing("text", with: "It is 481516, not 1234567."))
        let document = try await Chromium.value(
            of: "document.documentElement.outerHTML", at: emulator.url + "/inbox", once: "document.body?.dataset.ready")
        #expect(document.contains("Hello &lt;b&gt;Ann&lt;/b&gt;"), "texts are shown, not interpreted")
        #expect(document.contains(#"It is <span class="code">481516</span>, not 1234567."#))
        let newest = try #require(document.range(of: "Code 1"))
        let first = try #require(document.range(of: "Hello &lt;b"))
        #expect(newest.lowerBound < first.lowerBound)
    }

    // MARK: Faults

    @Test(.emulator { $0.smtpPort = 0 }) func `a fault refuses one recipient, as often as it says`() async throws {
        try await fault(#"{"endpoint":"mail","to":"Bob@example.org","status":550,"count":1}"#)
        #expect(try await codes(mail(to: ["ann@example.org", "bob@example.org"])) == [220, 250, 250, 250, 550, 354, 250, 221])
        #expect(await emulator.mails().map(\.recipients) == [["ann@example.org"]])
        #expect(try await codes(mail(to: ["bob@example.org"])).contains(550) == false)
        let requests = try await Fixture.current.call("GET", "/control/requests").json["requests"]?.elements ?? []
        #expect(requests.map { $0["status"] } == [550, 250, 250])
        #expect(requests.map { $0["to"] } == ["bob@example.org", "ann@example.org", "bob@example.org"])
    }

    @Test(.emulator { $0.smtpPort = 0 }) func `a fault loses the answer of a mail that was taken or not`() async throws {
        try await fault(#"{"endpoint":"mail","step":"data","action":"drop","delivered":true}"#)
        try await fault(#"{"endpoint":"mail","step":"data","action":"drop"}"#)
        for _ in 0..<2 { #expect(try await codes(mail()) == [220, 250, 250, 250, 354]) }
        #expect(await emulator.mails().count == 1)
    }

    @Test(.emulator { $0.smtpPort = 0 }) func `a fault refuses a mail, or a connection`() async throws {
        try await fault(#"{"endpoint":"mail","step":"data","status":451}"#)
        #expect(try await codes(mail()) == [220, 250, 250, 250, 354, 451, 221])
        try await fault(#"{"endpoint":"mail","step":"connection","status":421}"#)
        #expect(try await codes("") == [421])
        try await fault(#"{"endpoint":"mail","step":"sender","status":452}"#)
        #expect(try await codes(mail()).prefix(4) == [220, 250, 452, 503])
    }

    @Test(.emulator { $0.smtpPort = 0 }) func `a fault holds back an answer, and the commands after it`() async throws {
        try await fault(#"{"endpoint":"mail","action":"delay","latency_ms":50}"#)
        let start = ContinuousClock.now
        #expect(try await codes(mail()) == [220, 250, 250, 250, 354, 250, 221])
        #expect(ContinuousClock.now - start >= .milliseconds(50))
    }

    @Test(.emulator, arguments: [#"{"endpoint":"mail","action":"goaway"}"#, #"{"endpoint":"mail","step":"x"}"#])
    func `a fault that mails cannot have is refused`(body: String) async throws {
        #expect(try await Fixture.current.call("POST", "/control/faults", body).status == 400)
    }
}
