import Accounts
import Foundation
import HTTPClient
import HeliographCrypto
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct SignInLockTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The `Retry-After` of a lock after failures that were so many seconds ago; nil when there is none.
    private static func lock(isKnown: Bool, undecided: Int = 0, ago: [Int]) -> String {
        let attempts = SignInAttempts(
            failedAt: ago.map { now.addingTimeInterval(-TimeInterval($0)) }, undecided: undecided, isKnown: isKnown)
        do {
            try SignInLock.check(attempts, now: now)
            return "free"
        } catch { return "\(error.code.rawValue) \(error.retryAfter ?? 0)" }
    }

    @Test func `each five failures of unknown devices lock for longer: 1, 5, 15 and then 60 minutes`() {
        for (count, minutes) in [(5, 1), (10, 5), (15, 15), (20, 60), (25, 60), (100, 60)] {
            let earlier = (1..<count).map { 10_000 + $0 }
            #expect(Self.lock(isKnown: false, ago: earlier + [0]) == "account_locked \(minutes * 60)", "\(count)")
            #expect(Self.lock(isKnown: false, ago: earlier + [minutes * 60 - 1]) == "account_locked 1", "\(count)")
            #expect(Self.lock(isKnown: false, ago: earlier + [minutes * 60]) == "free", "\(count)")
        }
    }

    @Test func `fewer than five failures after a lock do not lock, and a burst may not exceed what is left`() {
        #expect(Self.lock(isKnown: false, ago: [1, 1, 1, 1]) == "free")
        #expect(Self.lock(isKnown: false, undecided: 1, ago: [1, 1, 1, 1]) == "overloaded 2")
        let failures = [1, 2, 3] + (0..<5).map { 500 + $0 }
        #expect(Self.lock(isKnown: false, undecided: 1, ago: failures) == "free")
        #expect(Self.lock(isKnown: false, undecided: 2, ago: failures) == "overloaded 2")
    }

    @Test func `a lock counts from its fifth failure, even if others have failed since`() {
        #expect(Self.lock(isKnown: false, ago: [1, 50, 51, 52, 53, 54]) == "account_locked 10")
        #expect(Self.lock(isKnown: false, ago: [1, 60, 61, 62, 63, 64]) == "free")
    }

    @Test func `a known device is locked by five failures until the first of them is 15 minutes old`() {
        #expect(Self.lock(isKnown: true, ago: [1, 2, 3, 4]) == "free")
        #expect(Self.lock(isKnown: true, ago: [1, 2, 3, 4, 890]) == "account_locked 10")
        #expect(Self.lock(isKnown: true, ago: [1, 2, 3, 4, 890, 899]) == "account_locked 10")
        #expect(Self.lock(isKnown: true, undecided: 2, ago: [1, 2, 3]) == "overloaded 2")
    }
}

/// Tests the limits of failed sign-ins over all accounts.
@Suite struct SignInBrakeTests {
    /// Fails a sign-in with an e-mail of its own, from an address and a device.
    @discardableResult
    private func fail(
        _ number: Int, from address: String = "198.51.100.1", device: String? = nil, hasChallenge: Bool = false,
        reason: SessionReason = .noMatch
    ) async throws -> HTTPClientResponse {
        let response = try await attempt(number, from: address, device: device, hasChallenge: hasChallenge)
        if let id = UUID(uuidString: response.json.text("data.session_id") ?? "") { try await api.decide(id, .failed(reason)) }
        return response
    }

    private func attempt(
        _ number: Int, from address: String = "198.51.100.1", device: String? = nil, hasChallenge: Bool = false
    ) async throws -> HTTPClientResponse {
        var form = Form.signIn(email: "user\(number)@example.org").with("fcm_token", device ?? Form.pushToken(of: number))
        if hasChallenge {
            let challenge = try await api.send("POST", "/v1/ekyc/challenges").json.text("data.challenge_id")
            form = form.with("challenge_id", try #require(challenge))
        }
        return try await api.send(form, to: Path.login, headers: [("X-Forwarded-For", address)])
    }

    @Test(
        .api {
            $0.limits.addresses.trustedProxies = [AddressBlock("127.0.0.1")!]
            $0.limits.failedSignIns.perAddress = 3
        })
    func `An address whose sign-ins fail on many accounts is refused, for an hour, and no other`() async throws {
        try await fail(0, reason: .internal)
        for number in 1...3 { #expect(try await fail(number).status == 200) }
        let files = api.storedFiles().count
        let refused = try await attempt(4)
        #expect(refused.refusal == "429 rate_limited")
        #expect((3_500...3_600).contains(Int(refused.header("Retry-After") ?? "") ?? 0))
        #expect(api.storedFiles().count == files)
        #expect(try await attempt(5, from: "198.51.100.2").status == 200)
        try await api.postgres.execute("UPDATE sessions SET completed_at = completed_at - interval '1 hour'")
        #expect(try await attempt(4).status == 200)
    }

    @Test(.api { $0.limits.failedSignIns.perInstallation = 3 })
    func `A device whose sign-ins fail on many accounts is refused, and another is not`() async throws {
        for number in 1...3 { #expect(try await fail(number, device: Form.pushToken).status == 200) }
        #expect(try await attempt(4, device: Form.pushToken).refusal == "429 rate_limited")
        #expect(try await attempt(4).status == 200)
    }

    @Test(
        .api {
            $0.limits.addresses.trustedProxies = [AddressBlock("127.0.0.1")!]
            $0.limits.failedSignIns.total = 4
        })
    func `One face that is tried on many accounts from many addresses stops new devices, and no known one`() async throws {
        _ = try await api.signedInDevice(email: "known@example.org")
        for number in 1...4 { #expect(try await fail(number, from: "198.51.100.\(number)").status == 200) }
        #expect(try await attempt(5, from: "198.51.100.5").refusal == "400 challenge_required challenge_id")
        _ = try await api.signIn(email: "known@example.org")
        for number in 6...13 { #expect(try await fail(number, from: "198.51.100.\(number)", hasChallenge: true).status == 200) }
        let refused = try await attempt(14, from: "198.51.100.14", hasChallenge: true)
        #expect(refused.refusal == "503 overloaded")
        #expect(Int(refused.header("Retry-After") ?? "") ?? 0 > 3_000)
        _ = try await api.signIn(email: "known@example.org")
    }

    @Test(
        .apiWithMail {
            $0.limits.failedSignIns.total = 1
            $0.limits.failedSignIns.perAddress = 1
        })
    func `A proof of the e-mail passes all brakes and the lock of the account, and fails apart from other sign-ins`() async throws {
        let email = "user1@example.org"
        try await api.signUp(email)
        try await fail(1)
        #expect(try await attempt(1).refusal == "429 rate_limited")
        let token = try await api.enrolmentToken(email)
        for left in [4, 3] {
            let session = try await api.start(Path.login, .signIn(email: email), headers: [("Authorization", "Bearer \(token)")])
            try await api.decide(session.id, .failed(.noMatch))
            #expect(try await api.status(session).json.number("data.attempts_left") == left)
        }
    }

    @Test(.apiWithMail) func `A proof of another e-mail, and one that has ended, are refused`() async throws {
        let token = try await api.enrolmentToken("other@example.org")
        for bearer in [token, OpaqueToken.enrolmentPrefix + "unknown"] {
            let answer = try await api.send(.signIn(), to: Path.login, headers: [("Authorization", "Bearer \(bearer)")])
            #expect(answer.refusal == "401 unauthorized")
        }
        for other in ["Bearer access", "Bearer of another kind", "Basic Og=="] {
            let answer = try await api.send(.signIn(), to: Path.login, headers: [("Authorization", other)])
            #expect(answer.status == 200, "\(other) means nothing to a sign-in")
        }
    }

    @Test(.api) func `Photos without a face lock no account`() async throws {
        for _ in 0..<8 {
            let session = try await api.start(Path.login, .signIn())
            try await api.decide(session.id, .failed(.noFace))
            #expect(try await api.status(session).json.number("data.attempts_left") == 5)
        }
    }

    @Test(.api { $0.limits.failedSignIns.perInstallation = 2 })
    func `The limits hold over all instances, and the refusal is the same for known and unknown e-mails`() async throws {
        try await api.signUp("user7@example.org")
        try await fail(1, device: Form.pushToken)
        try await withSecondInstance(of: api, { $0.limits.failedSignIns.perInstallation = 2 }) { second in
            let form = Form.signIn(email: "user2@example.org")
            let response = try await second.send(form, to: Path.login)
            try await api.decide(try #require(UUID(uuidString: response.json.text("data.session_id") ?? "")), .failed(.noMatch))
        }
        var answers: [String] = []
        for number in [7, 8] {
            let response = try await attempt(number, device: Form.pushToken)
            answers.append("\(response.refusal) \(response.json.text("message") ?? "")")
        }
        #expect(Set(answers) == ["429 rate_limited Too many failed sign-ins of this device"])
    }
}

@Suite struct RateLimitHeaderTests {
    private let start = ContinuousClock.now

    @Test func `a state says what is left of a bucket, and when it is full again`() throws {
        let limiter = RateLimiter<Int>(Rate(perMinute: 30, burst: 3), name: "orders")
        let first = try #require(limiter.state(taking: 1, now: start))
        #expect(first.quota == 3 && first.window == .seconds(6) && first.remaining == 2 && first.reset == .seconds(2))
        #expect(first.wait == nil)
        _ = limiter.take(1, now: start)
        let last = try #require(limiter.state(taking: 1, now: start))
        #expect(last.remaining == 0 && last.reset == .seconds(6) && last.wait == nil)
        let refused = try #require(limiter.state(taking: 1, now: start))
        #expect(refused.remaining == 0 && refused.reset == .seconds(6) && refused.wait == .seconds(2))
        let later = try #require(limiter.state(taking: 1, now: start + .seconds(5)))
        #expect(later.remaining == 1 && later.reset == .seconds(3))
        #expect(RateLimiter<Int>(Rate(perMinute: 0, burst: 1)).state(taking: 1) == nil)
    }

    @Test(
        .api {
            $0.limits.address = Rate(perMinute: 60, burst: 100)
            $0.limits.signals = Rate(perMinute: 30, burst: 2)
        })
    func `An answer says which limits the request counted against, refused or not`() async throws {
        let phone = try await api.signedInDevice()
        let first = try await api.send("GET", "/v1/users/me/sessions", headers: [phone.bearer])
        #expect(first.header("RateLimit-Policy") == #""address";q=100;w=100, "signals";q=2;w=4"#)
        #expect(try #require(first.header("RateLimit")).contains(/^"address";r=\d+;t=\d+, "signals";r=1;t=2$/))
        _ = try await api.send("GET", "/v1/users/me/sessions", headers: [phone.bearer])
        let refused = try await api.send("GET", "/v1/users/me/sessions", headers: [phone.bearer])
        #expect(refused.refusal == "429 rate_limited")
        #expect(try #require(refused.header("RateLimit")).contains(/"signals";r=0;t=[34]$/))
    }

    @Test(.api { $0.limits.address = Rate(perMinute: 0, burst: 1) })
    func `A request without limits has no such headers`() async throws {
        let response = try await api.send("GET", "/v1/templates")
        #expect(response.status == 200)
        #expect(response.header("RateLimit") == nil && response.header("RateLimit-Policy") == nil)
    }
}
