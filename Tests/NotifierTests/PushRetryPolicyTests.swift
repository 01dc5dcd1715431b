import FCM
import Foundation
import TestSupport
import Testing
import WireFormat

@testable import Notifier

@Suite struct PushRetryPolicyTests {
    let policy = PushRetryPolicy(maxAttempts: 5, minDelay: .seconds(10))

    @Test func `waits grow from ten seconds until the attempts are used up`() {
        let steps = (1...5).map { policy.next(after: .ambiguous, attempt: $0, age: .zero, jitter: 1) }
        #expect(steps == [.after(.seconds(10)), .after(.seconds(20)), .after(.seconds(40)), .after(.seconds(80)), .attemptsExhausted])
    }

    @Test func `no wait is shorter than FCM's ten seconds nor much longer than ten minutes`() throws {
        let patient = PushRetryPolicy(maxAttempts: 20, minDelay: .seconds(10))
        for attempt in 1..<20 {
            guard case .after(let wait) = patient.next(after: .transient(retryAfter: nil), attempt: attempt, age: .zero) else {
                Issue.record("given up at attempt \(attempt)")
                continue
            }
            #expect((.seconds(10)...(.seconds(900))).contains(wait))
        }
    }

    @Test(arguments: [
        (FCMOutcome.transient(retryAfter: .seconds(90)), 90.0), (.transient(retryAfter: .seconds(1)), 10),
        (.quota(retryAfter: .seconds(60)), 60), (.notSent, 10),
    ])
    func `FCM can lengthen the wait, not shorten it`(outcome: FCMOutcome, seconds: Double) {
        #expect(policy.next(after: outcome, attempt: 1, age: .zero, jitter: 1) == .after(.seconds(seconds)))
    }

    @Test func `after an hour a push is given up`() {
        #expect(policy.next(after: .notSent, attempt: 1, age: .seconds(3590), jitter: 1) == .after(.seconds(10)))
        #expect(policy.next(after: .notSent, attempt: 1, age: .seconds(3591), jitter: 1) == .tooOld)
        let wait = FCMOutcome.transient(retryAfter: .seconds(1800))
        #expect(policy.next(after: wait, attempt: 1, age: .seconds(1900), jitter: 1) == .tooOld)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct LanePausesTests {
    private let clock = ManualClock()
    private let pauses: LanePauses

    init() { pauses = LanePauses(clock: clock) }

    @Test func `a lane pauses when three installations were refused, for the longest wait, and no other lane does`() {
        for _ in 0..<2 { pauses.refused(.bulk, UUID(), isBound: true, for: .seconds(1)) }
        #expect(pauses.remaining(.bulk) == nil)
        pauses.refused(.bulk, UUID(), isBound: true, for: .seconds(600))
        // A shorter pause does not end a longer one.
        pauses.refused(.bulk, UUID(), isBound: true, for: .seconds(1))
        #expect(pauses.remaining(.bulk) == .seconds(600))
        #expect(pauses.remaining(.urgent) == nil)
        clock.advance(by: .seconds(600))
        #expect(pauses.remaining(.bulk) == nil)
    }

    @Test func `refusals of installations without a user pause no lane, however many`() {
        for _ in 0..<100 { pauses.refused(.urgent, UUID(), isBound: false, for: .seconds(600)) }
        #expect(pauses.remaining(.urgent) == nil)
    }

    @Test func `two noisy devices pause no lane, however often they are refused`() {
        let phones = [UUID(), UUID()]
        for index in 0..<100 { pauses.refused(.urgent, phones[index % 2], isBound: true, for: .seconds(600)) }
        #expect(pauses.remaining(.urgent) == nil)
    }

    @Test func `refusals of one installation, or of two at different times, pause no lane`() {
        let phone = UUID()
        for _ in 0..<5 { pauses.refused(.urgent, phone, isBound: true, for: .seconds(600)) }
        clock.advance(by: LanePauses.memory)
        pauses.refused(.urgent, UUID(), isBound: true, for: .seconds(600))
        #expect(pauses.remaining(.urgent) == nil)
    }
}
