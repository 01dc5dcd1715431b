import Accounts
import FCMEmulator
import FoundationEssentials
import HTTPClient
import HeliographCrypto
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

/// Ten minutes without FCM: the due times and the emulator's clock are advanced, so that the test takes one minute.
@Suite struct LongOutageTests {
    private static let outage = 600.0
    /// FCM's least wait before a retry, in seconds.
    private static let leastWait = 10.0
    /// Pushes per second at the full rate, and the bulk lane's ramp to it.
    private static let rate = 160.0
    private static let rampSeconds = 10.0

    private static let settings = [
        "NOTIFY_RETRY_SECONDS": "\(Int(leastWait))", "FCM_QUOTA_PER_MINUTE": "\(Int(rate * 60 / 0.8))",
        "FCM_BULK_RAMP_SECONDS": "\(Int(rampSeconds))",
    ]

    @Test func `an FCM outage of ten minutes loses no push, prunes no installation, and ends with a slow ramp`() async throws {
        try await PushSystem.with(settings: Self.settings) { system in
            let phones = try await system.crowd(300)
            let api = try await Chat.start(system)
            var down = FaultRule(.error(.unavailable))
            down.count = nil
            down.lastsSeconds = Self.outage
            system.emulator.addFault(down)
            let bulk = try await system.fanOut(expiresIn: 3600)
            for number in 0..<20 { #expect(try await api.say("message \(number)") == 202) }
            try await eventually("everything waits; \(system.services.tail(of: "notifier"))") {
                let open = try await Self.open(system)
                return open.count > phones.count && open.allSatisfy { $0 != nil }
            }
            try await expectPatience(phones, system)
            #expect(try await system.installStates() == ["active": phones.count + 1], "an outage prunes no installation")

            try await passTenMinutes(system)
            for number in 20..<25 { #expect(try await api.say("message \(number)") == 202) }
            #expect(try await system.settled(bulk) == ["accepted": phones.count])
            try await eventually("nothing waits") { try await Self.open(system).isEmpty }
            #expect(await system.emulator.messages(to: api.listener.value).count >= 5, "at least the messages after the outage arrive")
            let lost = try await system.postgres.query(
                "SELECT FROM delivery_ledger WHERE state IN ('failed', 'expired', 'dead') OR (state = 'skipped' AND code <> 'superseded')")
            #expect(lost.isEmpty)
            expectRamp(phones, system)
            await api.http.shutdown()
        }
    }

    /// The code of each delivery that is not settled; nil for those not attempted or deferred yet.
    private static func open(_ system: PushSystem) async throws -> [String?] {
        try await system.postgres.query("SELECT code FROM delivery_ledger WHERE state IN ('pending', 'sending')").map {
            try $0.decode("code", as: String?.self)
        }
    }

    /// Expects that no phone was or will be sent a retry within ten seconds.
    private func expectPatience(_ phones: [AddressedPhone], _ system: PushSystem) async throws {
        let rows = try await system.postgres.query(
            """
            SELECT install_id, min(due_at) AS due_at FROM delivery_ledger
            WHERE state = 'pending' AND code = 'UNAVAILABLE' GROUP BY install_id
            """)
        #expect(!rows.isEmpty, "some were tried")
        var next: [UUID: Date] = [:]
        for row in rows { next[try row.decode("install_id")] = try row.decode("due_at", as: Date.self) }
        for phone in phones {
            let times = system.emulator.requestTimes(to: phone.value).map(\.at)
            for (earlier, later) in zip(times, times.dropFirst()) {
                #expect(later.timeIntervalSince(earlier) >= Self.leastWait, "a retry came too soon")
            }
            if let last = times.last, let next = next[phone.installID] {
                #expect(next.timeIntervalSince(last) >= Self.leastWait, "a retry is to come too soon")
            }
        }
    }

    private func passTenMinutes(_ system: PushSystem) async throws {
        system.emulator.advanceClock(seconds: Self.outage)
        try await system.postgres.execute(
            """
            UPDATE deliveries SET due_at = due_at - make_interval(secs => \(Self.outage)),
                                  created_at = created_at - make_interval(secs => \(Self.outage))
            WHERE state = 'pending'
            """)
        try await system.postgres.execute(
            """
            UPDATE delivery_pages SET due_at = due_at - make_interval(secs => \(Self.outage)),
                                      created_at = created_at - make_interval(secs => \(Self.outage))
            WHERE state = 'pending'
            """)
    }

    /// Expects that the first seconds after the outage carried a small part of the full rate.
    private func expectRamp(_ phones: [AddressedPhone], _ system: PushSystem) {
        let times = phones.flatMap { phone in
            system.emulator.requestTimes(to: phone.value).filter(\.isAccepted).map(\.at)
        }.sorted()
        guard let first = times.first else { return }
        let early = times.count { $0.timeIntervalSince(first) < 2 }
        // A fifth of the full speed is reached after two seconds; without a ramp all would have gone by then.
        #expect(early < phones.count / 2, "\(early) within two seconds")
    }
}

/// A conversation by the API: one user writes, and the other one has the phone.
private struct Chat {
    let http: HTTPClient
    let url: String
    let bearer: String
    let listener: AddressedPhone

    static func start(_ system: PushSystem) async throws -> Chat {
        let (name, port) = ("conversation:outage", try FreePort.find())
        guard let topic = TopicName(name) else { throw DeadlineExceeded(description: "not a topic") }
        let (speaker, other) = (try await system.makeUser(), try await system.makeUser())
        try await system.postgres.withTransaction { transaction in
            for (user, actor) in [(speaker, speaker), (other, speaker), (other, other)] {
                _ = try await TopicRepository(transaction).add(user, to: topic, by: actor)
            }
        }
        let listener = try await system.signIn(system.emulator.mintToken(), other)
        let bearer = Base64URL.encode(SecureRandom.bytes(32))
        _ = try await AccessTokenRepository(system.postgres).insert(
            NewAccessToken(
                userID: speaker, sessionID: UUID(), accessHash: SHA256.hash(bearer),
                refreshHash: SHA256.hash(SecureRandom.bytes(32)), installationKey: nil,
                lifetimes: SignInLifetimes(access: .seconds(3600), idle: .seconds(3600))))
        try system.services.start("identity-api", settings: ["HTTP_HOST": "127.0.0.1", "HTTP_PORT": "\(port)"])
        var configuration = HTTPClientConfiguration()
        configuration.allowedSchemes.insert("http")
        let chat = Chat(
            http: HTTPClient(configuration: configuration, logger: PushSystem.quiet),
            url: "http://127.0.0.1:\(port)/v1/topics/\(name)/messages", bearer: bearer, listener: listener)
        try await eventually("the API answers; \(system.services.tail(of: "identity-api"))") {
            try await chat.say("are you there?") == 202
        }
        try await eventually("the first message arrives") {
            await system.emulator.messages(to: listener.value).isEmpty ? nil : ()
        }
        return chat
    }

    /// Sends a message; returns the status of the answer, or nil without an answer.
    func say(_ text: String) async throws -> Int? {
        let body = #"{"message_id":"\#(UUID().uuidString)","text":"\#(text)"}"#
        let headers = [("Authorization", "Bearer \(bearer)"), ("Content-Type", "application/json")]
        return try? await http.execute(
            HTTPClientRequest(method: "POST", url: url, headers: headers, body: Array(body.utf8))
        ).status
    }
}
