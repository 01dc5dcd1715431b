import Foundation
import HTTPClient
import Synchronization
import TestSupport
import Testing

private let floodMinutes = ProcessInfo.processInfo.environment["FLOOD_MINUTES"].flatMap { Double($0) }

/// Tests that floods by strangers neither delay nor block the sign-ins of a known device.
///
/// `FLOOD_MINUTES=10` sets the duration of each flood (`make verify-flood`); without it the tests do not run, because their
/// measurements need a machine without other load.
@Suite(.enabled(if: floodMinutes != nil), .serialized) struct FloodTests {
    /// The sign-ups of strangers per second: several times the capacity of two cores.
    private static let junkPerSecond = 20.0
    /// The share of the junk that is the worst photos that are taken: one in so many.
    private static let worstShare = 10
    /// The failing sign-ins of strangers to one e-mail, per second: a thousand per minute.
    private static let failuresPerSecond = 1_000.0 / 60
    /// The most connections of all strangers.
    private static let connections = 512
    /// The number of sign-ins without a flood, to compare the others with.
    private static let baselineCount = 200

    @Test func `minutes of junk uploads less than double the p99 of a known phone's sign-in`() async throws {
        let minutes = try #require(floodMinutes)
        let (stack, owner, email) = try await Self.enrolled(["RATE_LIMIT_ACCOUNT_PER_MINUTE": "0"])
        let stranger = try await Phone.make(stack)
        let (worst, ordinary) = (try await WorstForms(stack), try RepeatedForm.ordinarySignUp(for: stranger))
        // The owner stands for the phones of many: at one address it would send more than a phone does.
        let calm = try await Self.signIns(owner.at(HonestOwner.newAddress()), email) { $0 < Self.baselineCount }
        let deadline = ContinuousClock.now + .seconds(minutes * 60)
        let (flooded, statuses) = try await withThrowingTaskGroup(of: [Int: Int].self) { group in
            group.addTask {
                try await Self.flood(perSecond: Self.junkPerSecond, until: deadline) { address, http in
                    if Int.random(in: 0..<Self.worstShare) == 0, let status = await worst.send(from: address, through: http) {
                        return status
                    }
                    return try await stranger.at(address, through: http).send(ordinary, to: "/api/v1/ekyc/upload-photos")
                }
            }
            let flooded = try await Self.signIns(owner.at(HonestOwner.newAddress()), email) { _ in ContinuousClock.now < deadline }
            return (flooded, try await group.next() ?? [:])
        }
        let expired = try await stack.database.psql(
            "SELECT count(*) FROM sessions s WHERE state = 'expired' AND EXISTS (SELECT FROM users u WHERE u.id = s.user_id)")
        print(
            """
            junk uploads by status: \(statuses.text); of them with the worst pictures: \(worst.statuses.text)
            sign-in to decision, p50 and p99 in ms: calm \(calm.percentile(50)) \(calm.percentile(99)) (\(calm.count)), \
            flooded \(flooded.percentile(50)) \(flooded.percentile(99)) (\(flooded.count))
            """)
        #expect(!worst.statuses.isEmpty)
        #expect(statuses[503, default: 0] > 0, "the flood was not more than the system takes")
        #expect(flooded.percentile(99) < 2 * calm.percentile(99))
        #expect(expired == "0")
    }

    @Test func `the owner signs in from a known phone while strangers fail a thousand times per minute`() async throws {
        let minutes = try #require(floodMinutes)
        let (stack, owner, email) = try await Self.enrolled([:])
        let stranger = try await Phone.make(stack)
        let failing = try RepeatedForm.signIn(email: email, for: stranger, faces: Photos.otherFace)
        let deadline = ContinuousClock.now + .seconds(minutes * 60)
        let (milliseconds, statuses) = try await withThrowingTaskGroup(of: [Int: Int].self) { group in
            group.addTask {
                try await Self.flood(perSecond: Self.failuresPerSecond, until: deadline) { address, http in
                    try await stranger.at(address, through: http).send(failing, to: "/api/v1/ekyc/login")
                }
            }
            // The interval is the shortest that the limit of an account allows.
            let milliseconds = try await Self.signIns(owner, email, every: .seconds(6.5)) { _ in ContinuousClock.now < deadline }
            return (milliseconds, try await group.next() ?? [:])
        }
        print("failed sign-ins of others by status: \(statuses.text); \(milliseconds.count) sign-ins of the owner")
        // Status 0 is a request without an answer, which puts no load on the account.
        #expect(Double(statuses.filter { $0.key != 0 }.values.reduce(0, +)) >= 0.98 * minutes * 1_000)
        #expect(statuses[200, default: 0] > 0 && statuses[429, default: 0] > 0)
    }

    /// Starts a stack with an account and its known device. Strangers have addresses of their own, by way of a trusted proxy.
    private static func enrolled(_ settings: [String: String]) async throws -> (Stack, Phone, email: String) {
        let standard = [
            "TRUSTED_PROXIES": "127.0.0.1", "SIGN_IN_FAILURES_PER_ADDRESS": "0", "SIGN_IN_FAILURES_TOTAL": "0",
            // The owner is timed by one account in place of many.
            "EKYC_FIRST_SECONDS_PER_ACCOUNT": "0",
        ]
        let stack = try await Stack.start(settings: standard.merging(settings) { $1 }, hasLimits: true)
        let (owner, email) = (try await Phone.make(stack), "honest-\(UUID().uuidString)@example.org")
        _ = try await owner.enrol(email: email)
        try await redeem(owner, email)
        return (stack, owner, email)
    }

    /// Signs in and redeems the session, which makes the phone a known device.
    private static func redeem(_ owner: Phone, _ email: String) async throws {
        let answer = try await owner.signIn(email: email, faces: Photos.sameFace)
        #expect(try await owner.outcome(of: answer)["state"].text == "succeeded")
        #expect(try await owner.redeem(answer, email: email).status == 200)
    }

    /// Signs in repeatedly and returns the milliseconds from each request to its decision, in ascending order.
    ///
    /// - Parameter phone: Evaluated for each sign-in.
    private static func signIns(
        _ phone: @autoclosure () -> Phone, _ email: String, every interval: Duration = .zero, while goesOn: (Int) -> Bool
    ) async throws -> [Double] {
        var milliseconds: [Double] = []
        while goesOn(milliseconds.count) {
            let phone = phone()
            // Every sign-in uses the same three photos; without this they would be refused as a replay.
            try await phone.stack.database.psql("DELETE FROM face_photo_hashes")
            let start = ContinuousClock.now
            let answer = try await phone.signIn(email: email, faces: Photos.sameFace)
            #expect(answer.status == 200)
            // The push is not waited for: a phone gets at most ten of them per minute.
            #expect(try await phone.outcome(of: answer)["state"].text == "succeeded")
            milliseconds.append((ContinuousClock.now - start) / .milliseconds(1))
            try await ContinuousClock().sleep(until: start + interval)
        }
        return milliseconds.sorted()
    }

    /// Sends requests of strangers at a steady rate, independently of their answers; returns the number of answers by status. Their
    /// connections are not those of the owner, who would wait for a free one in the test. To make a form for each request would have the
    /// owner wait for a thread of the test.
    private static func flood(
        perSecond rate: Double, until deadline: ContinuousClock.Instant,
        _ send: @escaping @Sendable (_ address: String, _ http: HTTPClient) async throws -> Int
    ) async throws -> [Int: Int] {
        let (statuses, http) = (Statuses(), AbuseAttack.client(maxConnections: Self.connections))
        let start = ContinuousClock.now
        try await withThrowingDiscardingTaskGroup { group in
            var sent = 0
            while ContinuousClock.now < deadline {
                sent += 1
                group.addTask {
                    let address = "198.\(Int.random(in: 18...19)).\(Int.random(in: 0...255)).\(Int.random(in: 1...254))"
                    let status = try? await send(address, http)
                    statuses.counts.withLock { $0[status ?? 0, default: 0] += 1 }
                }
                try await ContinuousClock().sleep(until: start + .seconds(Double(sent) / rate))
            }
        }
        await http.shutdown()
        return statuses.counts.withLock { $0 }
    }
}

/// The sign-ups with the worst pictures that are taken. A form is sent by one request at a time: forms of 50 MB for all requests that wait
/// for their answers would take the cores of the attacked services, and all memory.
private final class WorstForms: Sendable {
    private static let count = 16

    private let idle: Mutex<[(phone: Phone, form: RepeatedForm)]>
    private let answers = Statuses()

    init(_ stack: Stack) async throws {
        let pictures = try await WorstPictures.make()
        var forms: [(Phone, RepeatedForm)] = []
        for _ in 0..<Self.count {
            let phone = try await Phone.make(stack)
            forms.append((phone, RepeatedForm.worst(pictures, for: phone, isSignUp: true)))
        }
        idle = Mutex(forms)
    }

    /// The number of requests by the status of their answer.
    var statuses: [Int: Int] { answers.counts.withLock { $0 } }

    /// Sends the next request from an address; returns nil while all forms are on their way.
    func send(from address: String, through http: HTTPClient) async -> Int? {
        guard let (phone, form) = idle.withLock({ $0.popLast() }) else { return nil }
        defer { idle.withLock { $0.append((phone, form)) } }
        let status = try? await phone.at(address, through: http).send(form, to: "/api/v1/ekyc/upload-photos")
        answers.counts.withLock { $0[status ?? 0, default: 0] += 1 }
        return status ?? 0
    }
}

/// The number of requests by the status of their answer; 0 is no answer.
private final class Statuses: Sendable {
    let counts = Mutex<[Int: Int]>([:])
}

extension [Double] {
    /// Returns a percentile of sorted values.
    fileprivate func percentile(_ percent: Int) -> Double { isEmpty ? .nan : self[Swift.min(count - 1, count * percent / 100)] }
}

extension [Int: Int] {
    /// The counts by status, such as `200: 5, 429: 7`.
    fileprivate var text: String { sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") }
}
