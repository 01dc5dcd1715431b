import Foundation
import HTTPClient
import JSON
import TestSupport
import Testing

@testable import FCMEmulator

@Suite struct InboxTests {
    private var fixture: Fixture { .current }

    private func push(_ token: String, title: String, collapse: String, badge: Int = 1) -> String {
        #"""
        {"message":{"token":"\#(token)","notification":{"title":"\#(title)","body":"b"},"data":{"k":"v"},
        "android":{"notification":{"tag":"\#(collapse)"}},
        "apns":{"headers":{"apns-collapse-id":"\#(collapse)"},"payload":{"aps":{"badge":\#(badge)}},
        "fcm_options":{"image":"https://example.com/p.jpg"}}}}
        """#
    }

    @Test(.emulator, arguments: DevicePlatform.allCases)
    func `a push replaces the one with its collapse id on the same phone`(_ platform: DevicePlatform) async throws {
        let (mine, other) = (fixture.emulator.mintToken(platform: platform), fixture.emulator.mintToken(platform: platform))
        for (token, title, id) in [(mine, "old", "1"), (mine, "two", "2"), (other, "theirs", "1"), (mine, "new", "1")] {
            #expect(try await fixture.send(push(token, title: title, collapse: id)).status == 200)
        }
        let answer = try await fixture.call("GET", "/control/inbox?token=" + mine)
        let cards = try #require(answer.json["cards"]?.elements)
        #expect(cards.map { $0["title"]?.string } == ["two", "new"])
        #expect(cards.map { $0["replaced"]?.integer } == [0, 1])
        #expect(await fixture.emulator.messages(to: mine).count == 3, "the log keeps what was replaced")
    }

    @Test func `an iPhone shows Apple's part, an Android phone its own`() async throws {
        let message: JSONValue = [
            "notification": ["title": "common", "body": "common"],
            "android": ["notification": ["title": "android", "notification_count": 4, "image": "https://a/"]],
            "apns": ["payload": ["aps": ["alert": ["title": "apple"], "badge": 7]], "fcm_options": ["image": "https://i/"]],
        ]
        func card(_ platform: DevicePlatform) -> Card {
            Card(ReceivedMessage(name: "n", receivedAt: Date(), message: message, registration: "r", platform: platform))
        }
        let (apple, android) = (card(.ios), card(.android))
        #expect(apple.title == "apple" && apple.body == "common" && apple.badge == 7 && apple.image == "https://i/")
        #expect(android.title == "android" && android.body == "common" && android.badge == 4 && android.image == "https://a/")
    }

    @Test func `a push without a text is silent`() {
        let message: JSONValue = ["data": ["a": "b"], "apns": ["payload": ["aps": ["content-available": 1]]]]
        let card = Card(ReceivedMessage(name: "n", receivedAt: Date(), message: message, registration: "r", platform: .ios))
        #expect(card.isSilent && card.id == "n")
    }

    @Test(.emulator) func `the stream begins with the existing pushes and continues with new ones`() async throws {
        let inbox = fixture.emulator.core.inbox
        let (mine, other) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
        _ = try await fixture.send(push(mine, title: "before", collapse: "1"))
        async let stream = fixture.call("GET", "/control/stream?token=" + mine, timeout: .seconds(120))
        try await eventually("a stream") { inbox.audience.streams == 1 }
        _ = try await fixture.send(push(mine, title: "after", collapse: "1"))
        _ = try await fixture.send(push(other, title: "theirs", collapse: "1"))
        fixture.emulator.clearMessages()
        inbox.close()
        let answer = try await stream
        #expect(answer.response.header("content-type") == "text/event-stream")
        let events = answer.text.split(separator: "\n").filter { $0.hasPrefix("event: ") }.map { String($0.dropFirst(7)) }
        #expect(events == ["snapshot", "mails", "card", "cleared"])
        let data = answer.text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map {
            try? JSONValue(parsing: Array($0.dropFirst(6).utf8))
        }
        #expect(data[0]?[0]?["title"] == "before")
        #expect(data[2]?["title"] == "after" && data[2]?["replaced"] == 1 && data[2]?["badge"] == 1)
    }

    @Test(.emulator { $0.limits.streams = 1 }) func `the number of streams is limited`() async throws {
        let inbox = fixture.emulator.core.inbox
        var stream: AsyncStream<Inbox.Event>? = try #require(inbox.subscribe(to: nil))
        #expect(try await fixture.call("GET", "/control/stream").status == 503)
        _ = stream
        stream = nil
        try await eventually("the place is free") { inbox.audience.streams == 0 }
    }

    @Test(.emulator { $0.appName = "</script>\"x" }) func `the page is one file without external resources`() async throws {
        for path in ["/", "/inbox", "/inbox?token=abc"] {
            let answer = try await fixture.call("GET", path)
            #expect(answer.status == 200)
            #expect(answer.response.header("content-security-policy")?.contains("default-src 'none'") == true)
            #expect(!answer.text.contains("src=\"") && !answer.text.contains("href=\"http"))
            #expect(answer.text.contains(#"window.APP_NAME = "\u003c/script>\"x";"#), "a name cannot break out of the script")
        }
    }

    @Test(.emulator, .enabled(if: Chromium.path != nil, "not tried in a browser: chromium is missing (apt-get install chromium)"))
    func `a browser shows the pushes as cards`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.send(push(token, title: "old", collapse: "1"))
        _ = try await fixture.send(push(token, title: "eKYC <b>Sign In</b>", collapse: "1", badge: 3))
        _ = try await fixture.send(push(token, title: "Second", collapse: "2", badge: 4))
        // Chromium dumps the document when it is loaded, which may be before the stream's first event.
        let document = try await eventually("the page has got its snapshot") { () -> String? in
            guard let document = try? await Chromium.document(of: fixture.emulator.url + "/inbox?token=" + token) else {
                return nil
            }
            return document.contains("data-ready=\"true\"") ? document : nil
        }
        #expect(document.contains("<h2>eKYC &lt;b&gt;Sign In&lt;/b&gt;</h2>"), "texts are shown, not interpreted")
        #expect(!document.contains("<h2>old</h2>"))
        #expect(document.contains("replaced an earlier one"))
        #expect(document.contains(#"id="badge">4</span>"#))
        let second = try #require(document.range(of: "<h2>Second</h2>"))
        let first = try #require(document.range(of: "<h2>eKYC"))
        #expect(second.lowerBound < first.lowerBound, "the newest is on top")
    }
}

/// A browser, if the machine has one.
enum Chromium {
    static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Returns the document after the page has loaded, as its script has changed it.
    static func document(of url: String) async throws -> String {
        let profile = try TemporaryDirectory()
        return try await CommandLineTool.run([
            try #require(path), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--user-data-dir=\(profile.path)/profile", "--timeout=2000", "--dump-dom", url,
        ])
    }
}
