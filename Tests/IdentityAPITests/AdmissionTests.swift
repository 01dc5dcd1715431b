import Accounts
import Foundation
import HTTPClient
import JSON
import Logging
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// Tests that uploads over the limits of undecided sessions are refused with a time to retry, and leave nothing.
@Suite struct AdmissionTests {
    private static func limits(_ change: (inout SessionAdmission.Limits) -> Void) -> (inout IdentityAPIConfiguration) -> Void {
        var limits = SessionAdmission.Limits.none
        change(&limits)
        return { $0.limits.undecidedSessions = limits }
    }

    /// Returns a sign-in with an e-mail and a phone of its own.
    private static func stranger(_ number: Int) -> Form {
        Form.signIn(email: "stranger-\(number)@example.org").with("fcm_token", Form.pushToken(of: number))
    }

    /// Sends the head of an upload without its body, and returns the answer, which the server gave without reading a body.
    private static func answerToHead(_ api: IdentityFixture, _ path: String, _ form: Form) async throws -> String? {
        let connection = try RawConnection(port: api.port)
        try await connection.post(path, type: form.contentType, length: 90_000_000)
        return try await connection.receive(until: "\r\n\r\n")
    }

    private static func expectRefusal(_ response: HTTPClientResponse) {
        #expect(response.refusal == "503 overloaded")
        #expect(response.header("Retry-After") == "10")
    }

    @Test func `An address with too many undecided sessions is refused before its photos are read`() async throws {
        try await withIdentityAPI(Self.limits { $0.perAddress = 2 }) { api in
            for number in 1...2 { _ = try await api.start(Path.login, Self.stranger(number)) }
            #expect(try await Self.answerToHead(api, Path.login, .signIn())?.hasPrefix("HTTP/1.1 503") == true)
            #expect(try await api.count("sessions") == 2)

            try await api.postgres.execute(
                "UPDATE sessions SET state = 'failed', reason = 'no_match', retryable = true, completed_at = now()")
            #expect(try await api.send(Self.stranger(3), to: Path.login).status == 200, "decided sessions do not count")
        }
    }

    @Test func `A device with too many undecided sessions is refused for any e-mail, and leaves nothing`() async throws {
        try await withIdentityAPI(Self.limits { $0.perInstallation = 1 }) { api in
            _ = try await api.start(Path.login, .signIn(email: "a@example.org"))
            let files = api.storedFiles()
            let key = [("Idempotency-Key", "k-1")]
            Self.expectRefusal(try await api.send(.signIn(email: "b@example.org"), to: Path.login, headers: key))
            #expect(try await api.count("sessions") == 1)
            #expect(try await api.count("idempotency_keys") == 0)
            #expect(api.storedFiles() == files)
            try await api.postgres.execute("DELETE FROM sessions")
            #expect(try await api.send(.signIn(email: "b@example.org"), to: Path.login, headers: key).status == 200)
        }
    }

    @Test func `Two instances together admit no more sessions of a device than one`() async throws {
        let limits = Self.limits { $0.perInstallation = 2 }
        try await withIdentityAPI(limits) { first in
            try await withSecondInstance(of: first, limits) { second in
                #expect(first.port != second.port)
                let statuses = try await race(8) { number in
                    try await (number.isMultiple(of: 2) ? first : second)
                        .send(.signIn(email: "e\(number)@example.org"), to: Path.login).status
                }
                #expect(statuses.count { $0 == 200 } == 2)
                #expect(statuses.count { $0 == 503 } == 6)
            }
        }
    }

    @Test func `New installations get three quarters of all sessions, and known ones the rest and the faster lane`() async throws {
        try await withIdentityAPI(Self.limits { $0.total = 4 }) { api in
            let device = try await api.signedInDevice()
            try await api.postgres.execute("DELETE FROM sessions")
            try await api.postgres.execute("DELETE FROM outbox")
            for number in 1...3 { _ = try await api.start(Path.login, Self.stranger(number)) }
            Self.expectRefusal(try await api.send(Self.stranger(4), to: Path.login))
            _ = try await api.start(Path.login, .signIn(email: "known@example.org"))
            #expect(try await api.count("sessions WHERE user_id = '\(device.userID)'") == 1)
            let streams = try await api.postgres.query("SELECT stream, count(*) AS n FROM outbox GROUP BY stream ORDER BY stream")
            #expect(try streams.map { try $0.decode("stream", as: String.self) } == ["ekyc.requested", "ekyc.requested.known"])
            Self.expectRefusal(try await api.send(.signIn(email: "known@example.org"), to: Path.login))
        }
    }

    @Test func `A session beyond the places of its address waits for its turn, a known phone's does not`() async throws {
        try await withIdentityAPI(Self.limits { $0.inFlightPerAddress = 2 }) { api in
            _ = try await api.signedInDevice()
            try await api.postgres.execute("DELETE FROM sessions")
            try await api.postgres.execute("DELETE FROM outbox")
            for number in 1...3 { _ = try await api.start(Path.login, Self.stranger(number)) }
            _ = try await api.start(Path.login, .signIn(email: "known@example.org"))
            #expect(try await api.count("sessions WHERE awaits_turn") == 1)
            #expect(try await api.count("outbox WHERE type = 'ekyc.requested'") == 3)
        }
    }

    @Test func `A slow session waits for another one of its site, and not for fast ones`() {
        var limits = SessionAdmission.Limits.none
        limits.inFlightPerAddress = 2
        let admission = SessionAdmission(limits: limits)
        #expect(admission.awaitsTurn(UndecidedSessions(bulkOfSite: 1), .bulk))
        #expect(!admission.awaitsTurn(UndecidedSessions(inFlightOfAddress: 2), .bulk))
        #expect(!admission.awaitsTurn(UndecidedSessions(bulkOfSite: 1), .new))
    }

    @Test func `Sessions that wait for their turn keep no address out that has none`() throws {
        var limits = SessionAdmission.Limits.none
        (limits.total, limits.inFlightPerAddress) = (4, 2)
        let admission = SessionAdmission(limits: limits)
        var load = UndecidedSessions(total: 10, waiting: 8)
        try admission.check(load, EngineTime(), lane: .new)
        load.inFlightOfAddress = 2
        #expect(throws: APIError.self) { try admission.check(load, EngineTime(), lane: .new) }
        load = UndecidedSessions(total: 9, waiting: 7, inFlightOfAddress: 2)
        try admission.check(load, EngineTime(), lane: .new)
        load.waitingOfAddress = 1
        #expect(throws: APIError.self) { try admission.check(load, EngineTime(), lane: .new) }
        load = UndecidedSessions(total: 11, waiting: 8)
        #expect(throws: APIError.self) { try admission.check(load, EngineTime(), lane: .new) }
    }

    @Test func `The photos of one site leave room for those of others, and those of new phones for those of known ones`() throws {
        var limits = SessionAdmission.Limits.none
        limits.photoBytes = 4_096 << 20
        let admission = SessionAdmission(limits: limits)
        func isAdmitted(_ load: UndecidedSessions, _ lane: EkycLane) -> Bool {
            (try? admission.check(load, EngineTime(), lane: lane, adding: 2 << 20)) != nil
        }
        let ofSite = UndecidedSessions(photoBytes: 255 << 20, photoBytesOfSite: 255 << 20)
        #expect(!isAdmitted(ofSite, .new) && isAdmitted(ofSite, .known))
        #expect(isAdmitted(UndecidedSessions(photoBytes: 255 << 20), .new))
        let ofAll = UndecidedSessions(photoBytes: 3_071 << 20)
        #expect(!isAdmitted(ofAll, .new) && isAdmitted(ofAll, .known))
        #expect(!isAdmitted(UndecidedSessions(photoBytes: 4_095 << 20), .known))
    }

    @Test func `The last quarter of the photos of new phones is for sites with few, so that twelve sites do not take all`() throws {
        var limits = SessionAdmission.Limits.none
        limits.photoBytes = 4_096 << 20
        let admission = SessionAdmission(limits: limits)
        func isAdmitted(_ load: UndecidedSessions, adding bytes: Int) -> Bool {
            (try? admission.check(load, EngineTime(), lane: .bulk, adding: bytes)) != nil
        }
        // Nine sites with their whole share leave three quarters of one quarter.
        let load = UndecidedSessions(photoBytes: 9 * 256 << 20)
        #expect(isAdmitted(load, adding: 30 << 20) && !isAdmitted(load, adding: 40 << 20))
        #expect(isAdmitted(UndecidedSessions(photoBytes: 8 * 256 << 20), adding: 40 << 20))
    }

    @Test func `Sessions that are served last fill a total of their own`() throws {
        var limits = SessionAdmission.Limits.none
        limits.total = 8
        let admission = SessionAdmission(limits: limits)
        let load = UndecidedSessions(total: 9, bulk: 4)
        #expect(throws: APIError.self) { try admission.check(load, EngineTime(), lane: .bulk) }
        try admission.check(load, EngineTime(), lane: .new)
        #expect(throws: APIError.self) { try admission.check(UndecidedSessions(total: 10, bulk: 4), EngineTime(), lane: .new) }
        try admission.check(UndecidedSessions(total: 10, bulk: 4), EngineTime(), lane: .known)
    }

    @Test func `Known phones go first as long as their account, and the accounts of their site, use their share`() {
        let admission = SessionAdmission(limits: SessionAdmission.Limits())
        #expect(admission.goesFirst(EngineTime(), adding: .seconds(3)), "the first session of an account")
        #expect(admission.goesFirst(EngineTime(ofAccount: .seconds(1)), adding: .seconds(1)))
        #expect(!admission.goesFirst(EngineTime(ofAccount: .seconds(1)), adding: .seconds(1.1)))
        #expect(admission.goesFirst(EngineTime(knownOfSite: .seconds(19)), adding: .seconds(1)))
        #expect(!admission.goesFirst(EngineTime(knownOfSite: .seconds(19)), adding: .seconds(2)), "many accounts at one site")
        let load = UndecidedSessions(knownCostOfSite: .seconds(1))
        #expect(admission.goesFirst(EngineTime(), load, adding: .seconds(1)))
        #expect(!admission.goesFirst(EngineTime(), load, adding: .seconds(1.1)), "many at once at one site")
        let office = UndecidedSessions(knownCostOfSite: .seconds(9))
        #expect(admission.goesFirst(EngineTime(), office, adding: .milliseconds(500)), "the first one of an account in an office")
        #expect(!admission.goesFirst(EngineTime(ofAccount: .milliseconds(1)), office, adding: .milliseconds(500)))
    }

    @Test func `Photos that are slow, or alone take more than the share of an address, are examined last`() {
        let admission = SessionAdmission(limits: SessionAdmission.Limits())
        #expect(admission.lane(EngineTime(), adding: .seconds(1), photoCount: 9, goesFirst: false) == .new)
        #expect(admission.lane(EngineTime(), adding: .seconds(3), photoCount: 30, goesFirst: false) == .bulk)
        #expect(admission.lane(EngineTime(), adding: .seconds(3), photoCount: 30, goesFirst: true) == .known)
        #expect(admission.lane(EngineTime(), adding: .seconds(1), photoCount: 3, goesFirst: false) == .bulk, "each of them is slow")
        #expect(SessionAdmission(limits: .none).lane(EngineTime(), adding: .seconds(3), photoCount: 30, goesFirst: false) == .new)
    }

    @Test func `An address that has used its share of the workers' time is served last, a known phone of it is not`() async throws {
        try await withIdentityAPI(Self.limits { $0.firstTimePerAddress = .milliseconds(120) }) { api in
            _ = try await api.signedInDevice()
            try await api.postgres.execute("DELETE FROM sessions")
            try await api.postgres.execute("DELETE FROM outbox")
            for number in 1...3 { _ = try await api.start(Path.login, Self.stranger(number)) }
            _ = try await api.start(Path.login, .signIn(email: "known@example.org"))
            let streams = try await api.postgres.query("SELECT stream FROM outbox ORDER BY stream")
            #expect(
                try streams.map { try $0.decode("stream", as: String.self) } == [
                    "ekyc.requested", "ekyc.requested", "ekyc.requested.bulk", "ekyc.requested.known",
                ])
        }
    }

    @Test func `An account that has used its share of the workers' time is served as others of its address`() async throws {
        try await withIdentityAPI(Self.limits { ($0.firstTimePerAccount, $0.inFlightPerAddress) = (.seconds(2), 1) }) { api in
            let device = try await api.signedInDevice()
            try await api.postgres.execute("DELETE FROM sessions")
            for _ in 1...3 {
                let response = try await api.send(
                    .signUp(email: nil), to: Path.signUp, headers: [("Authorization", "Bearer \(device.accessToken)")])
                #expect(response.status == 200)
                try await api.postgres.execute("UPDATE sessions SET cost_ms = 2000 WHERE lane = 'known'")
            }
            #expect(try await api.count("sessions WHERE lane = 'known'") == 1)
            #expect(try await api.count("sessions WHERE lane = 'new' AND awaits_turn") == 1)
            #expect(try await api.count("sessions WHERE is_known") == 3, "their photos are compared as before")
        }
    }

    @Test func `An address that has used up its time is refused, a known phone of it is not`() async throws {
        try await withIdentityAPI(Self.limits { $0.timePerAddress = .seconds(60) }) { api in
            _ = try await api.signedInDevice()
            _ = try await api.start(Path.login, Self.stranger(1))
            try await api.postgres.execute("UPDATE sessions SET cost_ms = 60000")
            let refused = try await api.send(Self.stranger(2), to: Path.login)
            #expect(refused.refusal == "429 rate_limited" && refused.header("Retry-After") == "60")
            #expect(try await Self.answerToHead(api, Path.signUp, .signUp())?.hasPrefix("HTTP/1.1 429") == true)
            _ = try await api.start(Path.login, .signIn(email: "known@example.org"))
        }
    }

    @Test func `A sign-up without a bearer is refused before its photos are read once new installations hold their share`() async throws {
        try await withIdentityAPI(Self.limits { $0.total = 4 }) { api in
            let device = try await api.signedInDevice()
            try await api.postgres.execute("DELETE FROM sessions")
            for number in 1...3 { _ = try await api.start(Path.login, Self.stranger(number)) }
            #expect(try await Self.answerToHead(api, Path.signUp, .signUp())?.hasPrefix("HTTP/1.1 503") == true)
            let enrolment = try await api.send(
                .signUp(email: nil), to: Path.signUp, headers: [("Authorization", "Bearer \(device.accessToken)")])
            #expect(enrolment.status == 200, "the account's owner may enrol again")
        }
    }

    @Test func `An account authorises a limited number of undecided sign-ups over all phones and addresses`() async throws {
        let limits = Self.limits { $0.perAccount = 2 }
        try await withIdentityAPI {
            limits(&$0)
            $0.limits.addresses.trustedProxies = [AddressBlock("127.0.0.1")!]
        } _: { api in
            let device = try await api.signedInDevice()
            func enrol(_ number: Int) async throws -> HTTPClientResponse {
                try await api.send(
                    .signUp(email: nil).with("fcm_token", Form.pushToken(of: number)), to: Path.signUp,
                    headers: [("Authorization", "Bearer \(device.accessToken)"), ("X-Forwarded-For", "198.51.100.\(number)")])
            }
            for number in 1...2 { #expect(try await enrol(number).status == 200) }
            Self.expectRefusal(try await enrol(3))
            #expect(try await api.send(.signUp(email: "known@example.org"), to: Path.signUp).status == 200, "strangers do not count")
        }
    }

    @Test func `An answered upload gets its answer again, even if the limit has been reached since`() async throws {
        try await withIdentityAPI(Self.limits { $0.total = 4 }) { api in
            let key = [("Idempotency-Key", "k-1")]
            let form = Form.signUp()
            let first = try await api.send(form, to: Path.signUp, headers: key)
            for number in 1...2 { _ = try await api.start(Path.login, Self.stranger(number)) }
            Self.expectRefusal(try await api.send(.signUp(email: "new@example.org"), to: Path.signUp))
            let again = try await api.send(form, to: Path.signUp, headers: key)
            #expect(again.status == 200 && again.json.text("data.session_id") == first.json.text("data.session_id"))
            Self.expectRefusal(try await api.send(form, to: Path.signUp, headers: [("Idempotency-Key", "k-2")]))
        }
    }

    @Test func `The bytes of photos of undecided sessions are limited`() async throws {
        try await withIdentityAPI(Self.limits { $0.photoBytes = 4 * TestPhoto.jpeg(seed: 2).count + 10 }) { api in
            _ = try await api.start(Path.login, Self.stranger(1))
            Self.expectRefusal(try await api.send(Self.stranger(2), to: Path.login))
            #expect(try await api.count("sessions") == 1)
            #expect(api.storedFiles().count == 3)
        }
    }
}
