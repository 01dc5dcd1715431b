import FCM
import Testing
import TestSupport
import WireFormat

@testable import Notifier

@Suite struct RetryPolicyTests {
    let policy = RetryPolicy(attemptsMax: 5, delayMin: .seconds(10))

    @Test func `waits grow from ten seconds`() {
        let waits = (1...4).map { policy.delay(after: .ambiguous, attempt: $0, jitter: 1) }
        #expect(waits == [.seconds(10), .seconds(20), .seconds(40), .seconds(80)])
        #expect(policy.delay(after: .ambiguous, attempt: 5) == nil)
    }

    @Test func `no wait is shorter than FCM's ten seconds nor much longer than ten minutes`() throws {
        let patient = RetryPolicy(attemptsMax: 20, delayMin: .seconds(10))
        for attempt in 1..<20 {
            let wait = try #require(patient.delay(after: .transient(retryAfter: nil), attempt: attempt))
            #expect((.seconds(10)...(.seconds(900))).contains(wait))
        }
    }

    @Test func `FCM may ask for more, not for less`() {
        #expect(policy.delay(after: .transient(retryAfter: .seconds(90)), attempt: 1, jitter: 1) == .seconds(90))
        #expect(policy.delay(after: .transient(retryAfter: .seconds(1)), attempt: 1, jitter: 1) == .seconds(10))
        #expect(policy.delay(after: .quota(retryAfter: .seconds(60)), attempt: 1, jitter: 1) == .seconds(60))
    }

    @Test(arguments: [
        FCMOutcome.accepted(name: "n"), .deadTarget, .badPayload, .providerAuth, .config, .ourAuth,
    ])
    func `what is final is not repeated`(outcome: FCMOutcome) {
        #expect(policy.delay(after: outcome, attempt: 1) == nil)
    }

    @Test func `a pause holds its lane and no other`() throws {
        let pauses = LanePauses()
        pauses.pause(.bulk, for: .seconds(600))
        // A shorter pause does not end a longer one.
        pauses.pause(.bulk, for: .seconds(1))
        #expect(pauses.remaining(.urgent) == nil)
        #expect(try #require(pauses.remaining(.bulk)) > .seconds(500))
    }

    @Test func `a lane goes on when its pause is over`() {
        let pauses = LanePauses()
        pauses.pause(.bulk, for: .zero)
        #expect(pauses.remaining(.bulk) == nil)
    }
}
