import FCMEmulator
import FoundationEssentials
import HTTPClient
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// The metrics of a working notifier.
@Suite struct ObservationTests {
    /// Reads the metrics of a notifier, by name and labels.
    private static func figures(port: Int, _ http: HTTPClient) async throws -> [String: Double] {
        let url = "http://127.0.0.1:\(port)/metrics"
        guard let answer = try? await http.execute(HTTPClientRequest(url: url)), answer.status == 200 else { return [:] }
        var figures: [String: Double] = [:]
        for line in String(decoding: answer.body, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            if words.count == 2, let value = Double(words[1]) { figures[String(words[0])] = value }
        }
        return figures
    }

    private static func withClient(_ body: (HTTPClient) async throws -> Void) async throws {
        var configuration = HTTPClientConfiguration()
        configuration.allowedSchemes.insert("http")
        let http = HTTPClient(configuration: configuration, logger: PushSystem.quiet)
        let result = await Result.catching { try await body(http) }
        await http.shutdown()
        try result.get()
    }

    @Test func `the metrics show the queue, the pushes in flight, the quota and the breakers`() async throws {
        try await PushSystem.with(running: ["token-registry"]) { system in
            let port = try FreePort.find()
            try system.services.start("notifier", settings: ["ADMIN_PORT": "\(port)"])
            _ = try await system.crowd(300)
            var slow = FaultRule(.none)
            slow.count = nil
            slow.latency = .fixed(.seconds(8))
            system.emulator.addFault(slow)
            try await Self.withClient { http in
                let id = try await system.fanOut()
                let busy = try await eventually("pushes wait") {
                    let figures = try await Self.figures(port: port, http)
                    let waiting = figures[#"push_queue_length{lane="bulk"}"#] ?? 0
                    // The metric that is recorded last has to be there too.
                    let isWhole = figures[#"push_quota_tokens{share="all"}"#] != nil
                    return waiting > 0 && figures["push_in_flight"] ?? 0 > 0 && isWhole ? figures : nil
                }
                #expect(busy["push_in_flight"] ?? .infinity <= busy["push_in_flight_limit"] ?? 0)
                #expect(busy[#"push_queue_oldest_seconds{lane="bulk"}"#] ?? 0 > 0)
                #expect(busy[#"push_queue_length{lane="urgent"}"#] == 0)
                for breaker in ["credentials", "transient"] {
                    #expect(busy["push_breaker_state{breaker=\"\(breaker)\"}"] == 0)
                }
                #expect(busy["push_quota_limit_tokens"] == 8_000)
                #expect((0...8_000).contains(busy[#"push_quota_tokens{share="all"}"#] ?? -1))
                system.emulator.clearFaults()
                #expect(try await system.settled(id) == ["accepted": 300])
                let idle = try await eventually("nothing waits") {
                    let figures = try await Self.figures(port: port, http)
                    // A recording may be under way that has written only one of the two.
                    return figures["push_in_flight"] == 0 && figures["push_connections_opened_total"] ?? 0 >= 1 ? figures : nil
                }
                #expect(idle[#"push_queue_length{lane="bulk"}"#] == 0)
            }
        }
    }

    @Test func `the metrics show an open breaker`() async throws {
        try await PushSystem.with(running: ["token-registry"]) { system in
            let port = try FreePort.find()
            try system.services.start("notifier", settings: ["ADMIN_PORT": "\(port)"])
            let phones = try await system.crowd(1)
            system.emulator.addFault(FaultRule(.error(.permissionDenied)))
            try await Self.withClient { http in
                try await system.push(to: .user(phones[0].userID))
                try await eventually("the breaker of our credentials is open") {
                    try await Self.figures(port: port, http)[#"push_breaker_state{breaker="credentials"}"#] == 2
                }
            }
        }
    }

    @Test func `the canary detects an outage of FCM and its end, and reaches no phone`() async throws {
        try await PushSystem.with(running: []) { system in
            let port = try FreePort.find()
            let canary = system.emulator.mintToken()
            try system.services.start(
                "notifier", settings: ["ADMIN_PORT": "\(port)", "FCM_CANARY": canary, "FCM_CANARY_SECONDS": "1"])
            try await Self.withClient { http in
                func waitFor(_ up: Double, _ state: String) async throws {
                    try await eventually("FCM is \(state)") {
                        try await Self.figures(port: port, http)["push_fcm_up"] == up
                    }
                }
                try await waitFor(1, "there")
                var down = FaultRule(.error(.unavailable))
                down.count = nil
                system.emulator.addFault(down)
                try await waitFor(0, "away")
                system.emulator.clearFaults()
                try await waitFor(1, "back")
                system.emulator.deleteToken(canary)
                try await eventually("the log says that the canary is dead") {
                    system.services.tail(of: "notifier").contains("set another one in FCM_CANARY")
                }
                #expect(try await Self.figures(port: port, http)["push_fcm_up"] == 1)
                #expect(await system.emulator.messages().isEmpty)
            }
        }
    }
}
