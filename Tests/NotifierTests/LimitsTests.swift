import FCM
import Foundation
import Push
import TestSupport
import Testing
import WireFormat

@testable import Notifier

@Suite struct InFlightLimitTests {
    /// Records the answers of a whole window, each in the given time, while more pushes wait.
    private func window(_ limit: inout InFlightLimit, in time: Duration) {
        limit.noteFull()
        for _ in 0..<max(20, limit.count) { limit.answered(in: time) }
    }

    @Test func `the limit doubles while answers come as fast as ever, up to its maximum`() {
        var limit = InFlightLimit(max: 640)
        var counts: [Int] = []
        for _ in 0..<6 {
            counts.append(limit.count)
            window(&limit, in: .milliseconds(150))
        }
        #expect(counts == [32, 64, 128, 256, 512, 640])
    }

    @Test func `the limit halves when FCM pushes back, once for all pushes in flight, and then grows slowly`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<3 { window(&limit, in: .milliseconds(150)) }
        let now = ContinuousClock.now
        for _ in 0..<50 { limit.pushedBack(at: now) }
        #expect(limit.count == 128)
        limit.pushedBack(at: now + .seconds(2))
        #expect(limit.count == 64)
        // A hundred answers are worth one more.
        limit.noteFull()
        for _ in 0..<64 { limit.answered(in: .milliseconds(150)) }
        limit.noteFull()
        for _ in 0..<64 { limit.answered(in: .milliseconds(150)) }
        #expect(limit.count == 65)
    }

    @Test func `the limit shrinks when answers take longer because they queue`() {
        var limit = InFlightLimit(max: 640)
        window(&limit, in: .milliseconds(150))
        window(&limit, in: .milliseconds(400))
        #expect(limit.count == 57)
    }

    @Test func `slow answers lower the limit to no less than a hundred pushes a second`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<10 { window(&limit, in: .milliseconds(80)) }
        #expect(limit.count == 640)
        for _ in 0..<100 {
            window(&limit, in: .milliseconds(1500))
            #expect(Double(limit.count) / 1.5 >= InFlightLimit.minRate)
        }
    }

    @Test func `the least rate does not raise the limit above its maximum`() {
        var limit = InFlightLimit(max: 64)
        for _ in 0..<100 { window(&limit, in: .seconds(5)) }
        #expect(limit.count == 64)
    }

    @Test func `an FCM that stays slow becomes the new baseline within a minute`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<10 { window(&limit, in: .milliseconds(80)) }
        var (seconds, least) = (0.0, limit.count)
        while seconds < 60 {
            window(&limit, in: .milliseconds(1500))
            least = min(least, limit.count)
            seconds += 1.5
        }
        #expect(limit.count > least, "the limit grows again")
    }

    @Test func `after push-back, good answers raise the limit to its least rate again`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<3 { window(&limit, in: .milliseconds(1500)) }
        let now = ContinuousClock.now
        for second in 0..<10 { limit.pushedBack(at: now + .seconds(2 * second)) }
        #expect(limit.count == 8)
        window(&limit, in: .milliseconds(1500))
        #expect(limit.count == 150)
    }

    @Test func `short answer times may grow by eight milliseconds`() {
        var limit = InFlightLimit(max: 640)
        window(&limit, in: .milliseconds(1))
        window(&limit, in: .milliseconds(8))
        #expect(limit.count == 128)
        window(&limit, in: .milliseconds(10))
        #expect(limit.count == 115)
    }

    @Test func `an unused limit does not grow`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<1000 { limit.answered(in: .milliseconds(5)) }
        #expect(limit.count == 32)
    }
}

@Suite struct BulkPaceTests {
    private let start = ContinuousClock.now
    private var half: Duration { BulkPace.pause / 2 }

    @Test func `bulk sends without a pause while there is room for a burst`() {
        var pace = BulkPace()
        pace.recordBulk(at: start)
        #expect(pace.wait(inFlight: 136, limit: 200, at: start) == nil)
    }

    @Test func `with less room bulk waits for answers, for one pause at most`() {
        var pace = BulkPace()
        #expect(pace.wait(inFlight: 199, limit: 200, at: start) == nil, "nothing has been sent yet")
        pace.recordBulk(at: start)
        #expect(pace.wait(inFlight: 137, limit: 200, at: start + half) == .room)
        #expect(pace.wait(inFlight: 137, limit: 200, at: start + BulkPace.pause) == nil)
    }

    @Test func `half of a small limit counts as a burst, and bulk does not wait while nothing is in flight`() {
        var pace = BulkPace()
        pace.recordBulk(at: start)
        #expect(pace.wait(inFlight: 5, limit: 10, at: start) == nil)
        #expect(pace.wait(inFlight: 6, limit: 10, at: start) == .room)
        #expect(pace.wait(inFlight: 0, limit: 1, at: start) == nil)
    }

    @Test func `for a second after an urgent push bulk sends one batch per pause`() {
        var pace = BulkPace()
        pace.recordUrgent(at: start)
        #expect(pace.wait(inFlight: 0, limit: 200, at: start) == nil, "the first batch is sent")
        pace.recordBulk(at: start)
        #expect(pace.wait(inFlight: 0, limit: 200, at: start + half) == .urgent)
        #expect(pace.wait(inFlight: 0, limit: 200, at: start + BulkPace.pause) == nil)
        let later = start + BulkPace.urgentMemory
        pace.recordBulk(at: later)
        #expect(pace.wait(inFlight: 0, limit: 200, at: later) == nil)
    }
}

@Suite struct BreakerTests {
    let start = ContinuousClock.now
    var transient: Breaker { Breaker(trip: .share(0.5, of: 100), probes: 5) }

    private func opened() -> Breaker {
        var breaker = transient
        for index in 0..<100 { breaker.note(isFault: index % 2 == 0, installID: UUID(), at: start) }
        return breaker
    }

    @Test func `the breaker opens when half of a hundred results in ten seconds are faults`() {
        var breaker = transient
        for index in 0..<99 { breaker.note(isFault: index % 2 == 0, installID: UUID(), at: start + .milliseconds(index * 90)) }
        #expect(breaker.peek(at: start + .seconds(9)) == .go)
        breaker.note(isFault: true, installID: UUID(), at: start + .seconds(9))
        #expect(breaker.peek(at: start + .seconds(9)) == .wait(.seconds(30)))
    }

    @Test func `results older than ten seconds do not count`() {
        var breaker = transient
        for _ in 0..<60 { breaker.note(isFault: true, installID: UUID(), at: start) }
        for _ in 0..<60 { breaker.note(isFault: true, installID: UUID(), at: start + .seconds(11)) }
        #expect(breaker.peek(at: start + .seconds(11)) == .go)
    }

    @Test func `ten faults in twenty seconds without a good result open the breaker`() {
        var breaker = transient
        for index in 0..<10 { breaker.note(isFault: true, installID: UUID(), at: start + .seconds(2 * index)) }
        #expect(breaker.state == .closed)
        breaker.note(isFault: true, installID: UUID(), at: start + .seconds(20))
        #expect(breaker.state == .open)
    }

    @Test func `faults of one or two phones, and faults minutes apart, leave the breaker closed`() {
        var (sick, rare) = (transient, transient)
        let phones = [UUID(), UUID()]
        for index in 0..<60 {
            sick.note(isFault: true, installID: phones[index % 2], at: start + .seconds(2 * index))
            rare.note(isFault: true, installID: UUID(), at: start + .seconds(61 * index))
        }
        #expect(sick.state == .closed && rare.state == .closed)
    }

    @Test func `a good result among few faults keeps the breaker closed`() {
        var breaker = transient
        for index in 0..<60 { breaker.note(isFault: index % 9 != 8, installID: UUID(), at: start + .seconds(2 * index)) }
        #expect(breaker.state == .closed)
    }

    @Test func `a share of faults below half leaves the breaker closed`() {
        var breaker = transient
        for index in 0..<1000 { breaker.note(isFault: index % 10 < 4, installID: UUID(), at: start) }
        #expect(breaker.peek(at: start) == .go)
    }

    @Test func `after its open time the breaker admits five probes, and closes when all succeed`() {
        var breaker = opened()
        #expect(breaker.peek(at: start + .seconds(29)) == .wait(.seconds(1)))
        let later = start + .seconds(30)
        for _ in 0..<5 {
            #expect(breaker.peek(at: later) == .go)
            breaker.recordAdmission()
        }
        #expect(breaker.peek(at: later) == .wait(Breaker.probeWait))
        let closing = (0..<5).map { _ in breaker.note(isFault: false, installID: UUID(), at: later) }
        #expect(closing == [false, false, false, false, true])
        #expect(breaker.state == .closed && breaker.peek(at: later) == .go)
    }

    @Test func `results before it opened do not count after it has closed`() {
        var breaker = opened()
        let later = start + .seconds(30)
        for _ in 0..<5 where breaker.peek(at: later) == .go { breaker.recordAdmission() }
        for _ in 0..<5 { breaker.note(isFault: false, installID: UUID(), at: later) }
        for index in 0..<99 { breaker.note(isFault: index % 3 == 0, installID: UUID(), at: later) }
        #expect(breaker.state == .closed, "33 of 99 are faults; with those before it would be 83 of 199, and more soon")
        for _ in 0..<33 { breaker.note(isFault: true, installID: UUID(), at: later) }
        #expect(breaker.state == .open, "66 of 132")
    }

    @Test func `each second's results expire by themselves`() {
        var breaker = transient
        // 6 good results and 4 faults a second, then 6 faults of 10: half of the last ten seconds are faults from the fifth on.
        for second in 0..<20 {
            let faults = second < 10 ? 4 : 6
            for index in 0..<10 { breaker.note(isFault: index < faults, installID: UUID(), at: start + .seconds(second)) }
            if breaker.state == .open {
                #expect(second == 14)
                return
            }
        }
        Issue.record("it never opened")
    }

    @Test func `a failed probe doubles the open time, up to five minutes`() {
        var breaker = opened()
        var now = start
        var waits: [Duration] = []
        for _ in 0..<6 {
            guard case .wait(let wait) = breaker.peek(at: now) else { break }
            waits.append(wait)
            now += wait
            #expect(breaker.peek(at: now) == .go)
            breaker.recordAdmission()
            breaker.note(isFault: true, installID: UUID(), at: now)
        }
        #expect(waits == [30, 60, 120, 240, 300, 300].map { .seconds($0) })
    }

    @Test func `a probe without a result does not keep the breaker half open for ever`() {
        var breaker = opened()
        let later = start + .seconds(30)
        for _ in 0..<5 where breaker.peek(at: later) == .go { breaker.recordAdmission() }
        #expect(breaker.peek(at: later + .seconds(59)) != .go)
        #expect(breaker.peek(at: later + .seconds(60)) == .go)
    }
}

@Suite struct DeliveryRateTests {
    @Test func `a push that expired before its first attempt does not count as attempted`() {
        func word(_ outcome: DeliveryOutcome, attempt: Int, sentAt: Date? = nil) -> String {
            NotifierMetrics.word(DeliverySettlement(id: UUID(), outcome: outcome, attempt: attempt, sentAt: sentAt))
        }
        #expect(word(.expired, attempt: 1) == "expired_unsent")
        #expect(word(.expired, attempt: 1, sentAt: Date()) == "expired" && word(.expired, attempt: 2) == "expired")
        #expect(word(.failed, attempt: 1) == "failed" && word(.accepted, attempt: 1, sentAt: Date()) == "accepted")
    }
}

@Suite(.timeLimit(.minutes(1)))
struct BreakersTests {
    private let phone = UUID()

    @Test func `refusals of one phone, or with accepted pushes between them, do not stop a platform`() {
        let breakers = Breakers()
        for _ in 0..<20 { _ = breakers.note(.providerAuth, platform: "ios", installID: phone, isBound: true) }
        for _ in 0..<20 {
            _ = breakers.note(.providerAuth, platform: "ios", installID: UUID(), isBound: true)
            _ = breakers.note(.accepted(name: "n"), platform: "ios", installID: UUID(), isBound: true)
        }
        #expect(breakers.admit(platform: "ios") == nil && !breakers.isOpen(platform: "ios"))
    }

    @Test func `a fault of our own credentials stops all pushes`() {
        let breakers = Breakers()
        #expect(breakers.admit(platform: "android") == nil && breakers.hasCredentials)
        _ = breakers.note(.config, platform: "android", installID: phone, isBound: true)
        #expect(breakers.admit(platform: "ios")?.code == "breaker_credentials")
        #expect(breakers.suspension?.code == "breaker_credentials" && !breakers.hasCredentials)
    }

    @Test func `stray tokens of another project stop nothing, and many of them without a success stop all pushes`() {
        let breakers = Breakers()
        for _ in 0..<20 { _ = breakers.note(.foreignTarget, platform: nil, installID: phone, isBound: true) }
        for _ in 0..<20 {
            _ = breakers.note(.foreignTarget, platform: nil, installID: UUID(), isBound: true)
            _ = breakers.note(.accepted(name: "n"), platform: nil, installID: UUID(), isBound: true)
        }
        #expect(breakers.suspension == nil && breakers.hasCredentials)
        for _ in 0..<Breakers.minForeign - 1 { _ = breakers.note(.foreignTarget, platform: nil, installID: UUID(), isBound: true) }
        #expect(breakers.suspension == nil)
        _ = breakers.note(.foreignTarget, platform: nil, installID: UUID(), isBound: true)
        #expect(breakers.suspension?.code == "breaker_credentials" && !breakers.hasCredentials)
    }

    @Test func `a probe that belongs to another project leaves the breaker of our credentials open`() {
        let clock = ManualClock()
        let breakers = Breakers(clock: clock)
        _ = breakers.note(.config, platform: nil, installID: phone, isBound: true)
        clock.advance(by: .seconds(30))
        #expect(breakers.admit(platform: nil) == nil)
        _ = breakers.note(.foreignTarget, platform: nil, installID: phone, isBound: true)
        #expect(breakers.suspension?.wait == .seconds(60))
    }

    @Test func `another project's tokens without a user neither open the breaker of our credentials nor keep it open`() {
        let clock = ManualClock()
        let breakers = Breakers(clock: clock)
        for _ in 0..<100 { _ = breakers.note(.foreignTarget, platform: nil, installID: UUID(), isBound: false) }
        #expect(breakers.suspension == nil && breakers.hasCredentials)
        _ = breakers.note(.config, platform: nil, installID: phone, isBound: true)
        clock.advance(by: .seconds(30))
        #expect(breakers.admit(platform: nil) == nil)
        _ = breakers.note(.foreignTarget, platform: nil, installID: UUID(), isBound: false)
        #expect(breakers.admit(platform: nil) == nil)
        #expect(breakers.note(.accepted(name: "n"), platform: nil, installID: phone, isBound: true))
        #expect(breakers.hasCredentials)
    }

    @Test func `a platform's push service stops that platform only`() {
        let breakers = Breakers()
        for _ in 0..<3 { _ = breakers.note(.providerAuth, platform: "ios", installID: UUID(), isBound: true) }
        #expect(breakers.admit(platform: "ios")?.code == "breaker_provider_ios")
        #expect(breakers.admit(platform: "android") == nil && breakers.admit(platform: nil) == nil)
        #expect(breakers.suspension == nil && breakers.hasCredentials && breakers.trustsDeadTokens)
    }

    @Test func `dead tokens are not trusted while the breaker for transient faults is open`() {
        let breakers = Breakers()
        for _ in 0..<100 { _ = breakers.note(.transient(retryAfter: nil), platform: nil, installID: phone, isBound: true) }
        #expect(breakers.suspension?.code == "breaker_transient")
        #expect(!breakers.trustsDeadTokens && breakers.hasCredentials)
    }

    @Test func `an exhausted quota and a cancelled send open no breaker`() {
        let breakers = Breakers()
        for _ in 0..<500 { _ = breakers.note(.quota(retryAfter: .seconds(60)), platform: nil, installID: phone, isBound: true) }
        for _ in 0..<500 { _ = breakers.note(.cancelled, platform: nil, installID: phone, isBound: true) }
        #expect(breakers.suspension == nil)
    }
}
