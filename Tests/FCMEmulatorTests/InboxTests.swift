import Foundation
import HTTPClient
import JSON
import Synchronization
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
        #expect(data[0]?["cards"]?[0]?["title"] == "before" && data[0]?["messages"] == 1)
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

    @Test(.emulator { $0.limits.cards = 2 }) func `a phone's pushes are shown after any number of pushes to others`() async throws {
        let (mine, other) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
        _ = try await fixture.send(push(mine, title: "mine", collapse: "1"))
        for number in 0..<3 { _ = try await fixture.send(push(other, title: "theirs", collapse: "\(number)")) }
        let answer = try await fixture.call("GET", "/control/inbox?token=" + mine)
        #expect(answer.json["cards"]?.elements?.map { $0["title"]?.string } == ["mine"])
        let all = try await fixture.call("GET", "/control/inbox")
        #expect(all.json["cards"]?.elements?.map { $0["title"]?.string } == ["theirs", "theirs"])
    }

    @Test(.emulator { $0.limits.cards = 2 }) func `a phone's stream counts what a push replaces, whatever others get`() async throws {
        let inbox = fixture.emulator.core.inbox
        let (mine, other) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
        _ = try await fixture.send(push(mine, title: "old", collapse: "1"))
        let stream = try #require(inbox.subscribe(to: mine))
        for number in 0..<60 { _ = try await fixture.send(push(other, title: "theirs", collapse: "\(number)")) }
        _ = try await fixture.send(push(mine, title: "new", collapse: "1"))
        inbox.close()
        var shown: [String] = []
        for await event in stream {
            switch event {
            case .snapshot(let cards, let messages): shown.append("\(cards.map(\.title)) of \(messages)")
            case .card(let card): shown.append("\(card.title) replaced \(card.replaced)")
            default: shown.append("another event")
            }
        }
        #expect(shown == [#"["old"] of 1"#, "new replaced 1"])
    }

    @Test(.emulator) func `a stream gets all cards after a burst`() async throws {
        let inbox = fixture.emulator.core.inbox
        let token = fixture.emulator.mintToken()
        _ = try await fixture.send(push(token, title: "first", collapse: "first"))
        let stream = try #require(inbox.subscribe(to: nil))
        // As while a publication is scheduled: all of the burst is in that one.
        inbox.state.withLock { $0.isPublishing = true }
        for number in 0..<60 { _ = try await fixture.send(push(token, title: "later", collapse: "\(number)")) }
        inbox.publish()
        inbox.close()
        var last: [String] = []
        for await event in stream {
            switch event {
            case .snapshot(let cards, _): last = cards.map(\.title)
            case .card(let card): last.append(card.title)
            default: break
            }
        }
        #expect(last.count == 61 && last.contains("first"))
    }

    @Test(.emulator { $0.appName = "</script>\"&x" }) func `the page loads its own files only, which the emulator serves`() async throws {
        for path in ["/", "/inbox", "/inbox?token=abc"] {
            let answer = try await fixture.call("GET", path)
            #expect(answer.status == 200)
            let policy = try #require(answer.response.header("content-security-policy"))
            #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe-inline"))
            #expect(answer.text.contains(#"data-app-name="&lt;/script>&quot;&amp;x""#), "a name cannot break out of its attribute")
            let files = answer.text.matches(of: #/(?:src|href)="([^"#]+)"/#).map { String($0.1) }
            #expect(files.filter { !$0.hasPrefix("data:") } == ["/inbox.css", "/inbox.js"])
        }
        for file in ["/inbox.css", "/inbox.js", "/inbox-page.js", "/inbox-cards.js", "/inbox-mails.js", "/inbox-phones.js"] {
            let answer = try await fixture.call("GET", file)
            let type = file.hasSuffix("css") ? "text/css" : "text/javascript"
            #expect(answer.status == 200 && answer.response.header("content-type") == type + "; charset=utf-8")
            for module in answer.text.matches(of: #/from "\.(/[a-z.-]+)"/#) {
                #expect(try await fixture.call("GET", String(module.1)).status == 200, "\(file) imports \(module.1)")
            }
        }
    }

    @Test(.emulator, .enabled(if: Chromium.path != nil, "not tried in a browser: chromium is missing (apt-get install chromium)"))
    func `a browser shows the pushes as cards`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.send(push(token, title: "old", collapse: "1"))
        _ = try await fixture.send(push(token, title: "eKYC <b>Sign In</b>", collapse: "1", badge: 3))
        _ = try await fixture.send(push(token, title: "Second 🎨", collapse: "2", badge: 4))
        _ = fixture.emulator.mintToken(platform: .android)
        let document = try await Chromium.value(
            of: "document.documentElement.outerHTML", at: fixture.emulator.url + "/inbox?token=" + token,
            once: "document.body?.dataset.ready && document.querySelector('.phone-row')")
        #expect(document.contains(">eKYC &lt;b&gt;Sign In&lt;/b&gt;</h2>"), "texts are shown, not interpreted")
        #expect(!document.contains(">old</h2>"))
        #expect(document.contains("replaced an earlier one"))
        #expect(document.contains(#"id="badge">4</span>"#))
        #expect(document.contains(#"aria-current="true"><span class="name">iPhone 1</span>"#), "the chosen one of the phones")
        #expect(document.contains(#"<span class="name">Android 2</span>"#))
        let second = try #require(document.range(of: ">Second 🎨</h2>"))
        let first = try #require(document.range(of: ">eKYC"))
        #expect(second.lowerBound < first.lowerBound, "the newest is on top")
    }

    @Test(.emulator, .enabled(if: Chromium.path != nil, "not tried in a browser: chromium is missing (apt-get install chromium)"))
    func `the page fits a phone, whatever the texts are`() async throws {
        let token = fixture.emulator.mintToken()
        _ = try await fixture.send(push(token, title: String(repeating: "ש", count: 300), collapse: "1"))
        _ = try await fixture.send(push(token, title: String(repeating: "Wide🎨", count: 50), collapse: "2"))
        let openAll = "document.getElementById('phones').open = true, document.querySelectorAll('.row').forEach((row) => row.click())"
        let cut = "[...document.querySelectorAll('.card :is(h2, p, dd)')].filter((text) => text.scrollWidth > text.clientWidth)"
        let found = try await Chromium.value(
            of: "(\(openAll), `${document.documentElement.scrollWidth} pixels, ${\(cut).length} cut`)",
            at: fixture.emulator.url + "/inbox?token=" + token, width: 390, once: "document.body?.dataset.ready")
        #expect(found == "390 pixels, 0 cut")
    }
}
