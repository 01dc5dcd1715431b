import Foundation
import TestSupport
import Testing

/// Tests that a stranger who knows e-mail addresses, or has photos of people, cannot find out from answers, records or pushes which of them
/// have an account.
///
/// `DISCLOSURE_SAMPLES=2000` takes that number of samples of each kind, interleaved in random order (`make verify-disclosure`; more than
/// two hours on two cores). Without it the suite compares the shapes of three samples of each kind and no times.
@Suite(.serialized) struct DisclosureTests {
    /// The probability that a comparison of times fails although what is known and what is not do not differ.
    private static let falseAlarmRate = 0.001
    static let samples = ProcessInfo.processInfo.environment["DISCLOSURE_SAMPLES"].flatMap { Int($0) }

    @Test func `a failed sign-in looks the same for known and unknown e-mails`() async throws {
        try await compareEmails { phone, email in try await phone.signIn(email: email, faces: Photos.otherFace) }
    }

    @Test func `a sign-in with a bad photo looks the same for known and unknown e-mails, also with the owner's face`() async throws {
        try await compareEmails { phone, email in
            try await phone.signIn(email: email, faces: Photos.sameFace.prefix(2) + ["cases/no-face"], comment: UUID().uuidString)
        }
    }

    @Test func `a sign-up looks the same for known and unknown e-mails`() async throws {
        try await compareEmails { phone, email in try await phone.signUp(email: email) }
    }

    @Test func `a retake looks the same for known and unknown e-mails`() async throws {
        let stack = try await Self.stack()
        let known = "owner-\(UUID().uuidString)@example.org"
        _ = try await Phone.make(stack).enrol(email: known)
        try await compare(on: stack) { isKnown in
            let (phone, email) = (try await Phone.make(stack), isKnown ? known : Self.newEmail())
            let faces = [Photos.otherFace[0], "cases/no-face", Photos.otherFace[2]]
            let failed = try await phone.signIn(email: email, faces: faces, comment: UUID().uuidString)
            #expect(try await phone.outcome(of: failed)["retake_until"].text != nil)
            return (email: email, failed: failed)
        } _: { phone, _, failure in
            // The photos are good, and another person's: they are compared with the account's face, or with the decoy.
            let photo = try Photos.load(Photos.otherFace[1], comment: UUID().uuidString)
            return try await phone.retake(failure.failed, of: "sign_in", email: failure.email, with: [("faces", photo)])
        }
    }

    private func compareEmails(_ attempt: (_ phone: Phone, _ email: String) async throws -> Answer) async throws {
        let stack = try await Self.stack()
        let known = "owner-\(UUID().uuidString)@example.org"
        _ = try await Phone.make(stack).enrol(email: known)
        try await compare(on: stack, prepare: { _ in }) { phone, isKnown, _ in try await attempt(phone, isKnown ? known : Self.newEmail()) }
    }

    /// Starts a stack without the rate limit, because all samples of the known account come one after the other.
    static func stack(_ settings: [String: String] = [:]) async throws -> Stack {
        // At the ordinary rate of an address the header `RateLimit` of an answer depends on the time since the request before.
        let standard = [
            "RATE_LIMIT_ACCOUNT_PER_MINUTE": "0", "RATE_LIMIT_ADDRESS_PER_MINUTE": "1000000", "RATE_LIMIT_VERIFICATIONS_PER_MINUTE": "0",
        ]
        return try await Stack.start(settings: standard.merging(settings) { $1 })
    }

    static func newEmail() -> String { "stranger-\(UUID().uuidString)@example.org" }

    /// Compares attempts with what is known to attempts with what is not.
    ///
    /// - Parameters:
    ///   - prepare: Makes it known or unknown, outside of the times.
    ///   - attempt: Takes one sample, with what `prepare` has returned.
    func compare<Prepared>(
        on stack: Stack, prepare: (_ isKnown: Bool) async throws -> Prepared,
        _ attempt: (_ phone: Phone, _ isKnown: Bool, _ prepared: Prepared) async throws -> Answer
    ) async throws {
        var (ofKnown, ofUnknown): ([Sample], [Sample]) = ([], [])
        for _ in 0..<(Self.samples ?? 3) {
            // The order is random, so that other load of the machine does not affect one kind more than the other.
            for isKnown in Bool.random() ? [true, false] : [false, true] {
                let phone = try await Phone.make(stack)
                let prepared = try await prepare(isKnown)
                let sample = try await sample(phone) { try await attempt(phone, isKnown, prepared) }
                if isKnown { ofKnown.append(sample) } else { ofUnknown.append(sample) }
                // Consecutive failures would lock the known account. A lock looks the same for both kinds, but ends the comparison.
                // The photos of refused sign-ins would be replays at the known account only, because each unknown e-mail is another one.
                // A face that waits for its proof would be known to the next sign-up.
                try await stack.database.psql(
                    "DELETE FROM sessions; DELETE FROM face_photo_hashes WHERE NOT is_accepted; DELETE FROM pending_enrolments")
            }
        }
        #expect(Set(ofKnown.map(\.shape)) == Set(ofUnknown.map(\.shape)))
        guard Self.samples != nil else { return }
        for (name, time) in [
            ("time to the answer", \Sample.answerMilliseconds), ("time to the push", \.pushMilliseconds),
            ("time of the requests for tokens and codes", \.refusalMilliseconds),
        ] {
            let test = KolmogorovSmirnov(ofKnown.map { $0[keyPath: time] }, ofUnknown.map { $0[keyPath: time] })
            print("\(name): D = \(test.distance), p = \(test.probability), \(ofKnown.count) samples each")
            #expect(test.probability >= Self.falseAlarmRate, "\(name) differs: D = \(test.distance), p = \(test.probability)")
        }
    }

    private func sample(_ phone: Phone, _ attempt: () async throws -> Answer) async throws -> Sample {
        let start = ContinuousClock.now
        let answer = try await attempt()
        let answered = ContinuousClock.now
        let push = try await phone.pushes()[0]
        let pushed = ContinuousClock.now
        let record = try await phone.outcome(of: answer)
        let asked = ContinuousClock.now
        let refusals = record["state"].text == "failed" ? try await askForTokens(phone, answer) : []
        let refused = ContinuousClock.now
        let shapes = ([answer] + refusals).map { answer in
            let headers = answer.headers.map { "\($0.name.lowercased()): \($0.value.kind)" }.sorted()
            return "\(answer.status) \(headers) \(answer.body.shape)"
        }
        return Sample(
            answerMilliseconds: (answered - start) / .milliseconds(1), pushMilliseconds: (pushed - start) / .milliseconds(1),
            refusalMilliseconds: (refused - asked) / .milliseconds(1), shape: "\(shapes) \(record.shape) \(push.shape)")
    }

    /// Asks for the tokens of a session that has failed: without a code, with one, and for another code.
    private func askForTokens(_ phone: Phone, _ login: Answer) async throws -> [Answer] {
        let path = "/api/v1/ekyc/sessions/\(login.sessionID)/token"
        return [
            try await phone.post(path, bearer: login.sessionToken),
            try await phone.post(path, json: #"{"code":"482913"}"#, bearer: login.sessionToken),
            try await phone.post("/v1/auth/resend", json: #"{"verification_id":"\#(login.sessionID)"}"#),
        ]
    }
}

/// The observations of a caller in one attempt.
private struct Sample {
    let answerMilliseconds: Double
    let pushMilliseconds: Double
    /// The time of the requests for tokens and codes of a session that has failed.
    let refusalMilliseconds: Double
    /// The status, headers, answer, record and push, in which values that differ between any two attempts are replaced by their kind.
    let shape: String
}

extension JSONAnswer {
    /// The JSON with sorted keys, in which ids, times, tokens and numbers are replaced by their kind.
    fileprivate var shape: String {
        switch self {
        case .object(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.shape)" }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(\.shape).joined(separator: ",") + "]"
        case .number: "number"
        case .bool(let value): "\(value)"
        case .null: "null"
        case .text(let text): text.kind
        }
    }
}

extension String {
    /// The text, in which ids, times, tokens and numbers are replaced by their kind.
    fileprivate var kind: String {
        replacing(/[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}/, with: "<uuid>")
            .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "<time>")
            .replacing(/[A-Za-z0-9_\-]{20,}(:[A-Za-z0-9_\-]+)?/, with: "<token>")
            .replacing(/^\d+$/, with: "<digits>")
            // What tells the codes of a mail apart.
            .replacing(/^[BCDFGHJKMNPQRSTVWXYZ]{4}$/, with: "<reference>")
            // The ttl of a push is its remaining lifetime, which is 3599s or 3600s depending on the time of sending.
            .replacing(/^\d+s$/, with: "<seconds>")
            // The time of an answer as a header has it.
            .replacing(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/, with: "<date>")
    }
}

/// The two-sample test of Kolmogorov and Smirnov: whether two sets of measurements come from one distribution.
struct KolmogorovSmirnov {
    /// The largest difference between the two empirical distribution functions, 0–1.
    let distance: Double
    /// The probability of a difference at least as large when both come from one distribution (asymptotic, for some hundred
    /// samples or more).
    let probability: Double

    init(_ first: [Double], _ second: [Double]) {
        let (first, second) = (first.sorted(), second.sorted())
        var (i, j, distance) = (0, 0, 0.0)
        while i < first.count, j < second.count {
            let value = min(first[i], second[j])
            while i < first.count, first[i] <= value { i += 1 }
            while j < second.count, second[j] <= value { j += 1 }
            distance = max(distance, abs(Double(i) / Double(first.count) - Double(j) / Double(second.count)))
        }
        self.distance = distance
        let size = (Double(first.count * second.count) / Double(first.count + second.count)).squareRoot()
        // Stephens' correction for finite samples (Numerical Recipes §14.3).
        let lambda = (size + 0.12 + 0.11 / size) * distance
        var sum = 0.0
        for k in 1...100 { sum += (k % 2 == 1 ? 2 : -2) * exp(-2 * Double(k * k) * lambda * lambda) }
        probability = lambda < 0.2 ? 1 : min(max(sum, 0), 1)
    }
}

@Suite struct KolmogorovSmirnovTests {
    @Test func `samples of one distribution do not differ, and shifted ones do`() {
        var generator = SeededGenerator(seed: 7)
        let samples = (0..<2_000).map { _ in Double(generator.next() % 1_000_000) }
        let others = (0..<2_000).map { _ in Double(generator.next() % 1_000_000) }
        #expect(KolmogorovSmirnov(samples, others).probability > 0.01)
        #expect(KolmogorovSmirnov(samples, others.map { $0 * 1.1 }).probability < 0.001)
    }
}
