import FCM
import Foundation
import Storage
import Synchronization
import Testing
import WireFormat

@testable import Notifier

@Suite struct InFlightLimitTests {
    /// Answers of a whole window, each in the given time, with more waiting.
    private func window(_ limit: inout InFlightLimit, in time: Duration) {
        limit.noteFull()
        for _ in 0..<max(20, limit.count) { limit.answered(in: time) }
    }

    @Test func `it doubles while answers come as fast as ever, up to its most`() {
        var limit = InFlightLimit(max: 640)
        var counts: [Int] = []
        for _ in 0..<6 {
            counts.append(limit.count)
            window(&limit, in: .milliseconds(150))
        }
        #expect(counts == [32, 64, 128, 256, 512, 640])
    }

    @Test func `it halves when FCM pushes back, once for all that were on their way, and grows slowly after that`() {
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

    @Test func `it shrinks when answers take longer because they queue`() {
        var limit = InFlightLimit(max: 640)
        window(&limit, in: .milliseconds(150))
        window(&limit, in: .milliseconds(400))
        #expect(limit.count == 57)
    }

    @Test func `answers that become slow leave it a hundred pushes a second`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<10 { window(&limit, in: .milliseconds(80)) }
        #expect(limit.count == 640)
        for _ in 0..<100 {
            window(&limit, in: .milliseconds(1500))
            #expect(Double(limit.count) / 1.5 >= InFlightLimit.rateMin)
        }
    }

    @Test func `its least rate takes no more on their way than the connections carry`() {
        var limit = InFlightLimit(max: 64)
        for _ in 0..<100 { window(&limit, in: .seconds(5)) }
        #expect(limit.count == 64)
    }

    @Test func `an FCM that has become slow for good is taken as it is within a minute`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<10 { window(&limit, in: .milliseconds(80)) }
        var (seconds, least) = (0.0, limit.count)
        while seconds < 60 {
            window(&limit, in: .milliseconds(1500))
            least = min(least, limit.count)
            seconds += 1.5
        }
        #expect(limit.count > least, "it grows again")
    }

    @Test func `after FCM pushed back, good answers bring it back to its least rate`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<3 { window(&limit, in: .milliseconds(1500)) }
        let now = ContinuousClock.now
        for second in 0..<10 { limit.pushedBack(at: now + .seconds(2 * second)) }
        #expect(limit.count == 8)
        window(&limit, in: .milliseconds(1500))
        #expect(limit.count == 150)
    }

    @Test func `a short way may take eight milliseconds more`() {
        var limit = InFlightLimit(max: 640)
        window(&limit, in: .milliseconds(1))
        window(&limit, in: .milliseconds(8))
        #expect(limit.count == 128)
        window(&limit, in: .milliseconds(10))
        #expect(limit.count == 115)
    }

    @Test func `what is not used does not grow`() {
        var limit = InFlightLimit(max: 640)
        for _ in 0..<1000 { limit.answered(in: .milliseconds(5)) }
        #expect(limit.count == 32)
    }
}

@Suite struct BulkPaceTests {
    private let start = ContinuousClock.now
    private var half: Duration { BulkPace.pause / 2 }

    @Test func `bulk goes on at once while there is room for a burst`() {
        var pace = BulkPace()
        pace.bulkLeft(at: start)
        #expect(pace.wait(inFlight: 136, limit: 200, at: start) == nil)
    }

    @Test func `with less room it waits for answers, a pause at most`() {
        var pace = BulkPace()
        #expect(pace.wait(inFlight: 199, limit: 200, at: start) == nil, "nothing has left yet")
        pace.bulkLeft(at: start)
        #expect(pace.wait(inFlight: 137, limit: 200, at: start + half) == .room)
        #expect(pace.wait(inFlight: 137, limit: 200, at: start + BulkPace.pause) == nil)
    }

    @Test func `a small limit counts half of it as a burst, and nothing is waited for when nothing is on its way`() {
        var pace = BulkPace()
        pace.bulkLeft(at: start)
        #expect(pace.wait(inFlight: 5, limit: 10, at: start) == nil)
        #expect(pace.wait(inFlight: 6, limit: 10, at: start) == .room)
        #expect(pace.wait(inFlight: 0, limit: 1, at: start) == nil)
    }

    @Test func `for a second after an urgent push bulk leaves one batch a pause`() {
        var pace = BulkPace()
        pace.urgentCame(at: start)
        #expect(pace.wait(inFlight: 0, limit: 200, at: start) == nil, "the first batch goes")
        pace.bulkLeft(at: start)
        #expect(pace.wait(inFlight: 0, limit: 200, at: start + half) == .urgent)
        #expect(pace.wait(inFlight: 0, limit: 200, at: start + BulkPace.pause) == nil)
        let later = start + BulkPace.urgentMemory
        pace.bulkLeft(at: later)
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

    @Test func `it opens when half of a hundred results of ten seconds are faults`() {
        var breaker = transient
        for index in 0..<99 { breaker.note(isFault: index % 2 == 0, installID: UUID(), at: start + .milliseconds(index * 90)) }
        #expect(breaker.look(at: start + .seconds(9)) == .go)
        breaker.note(isFault: true, installID: UUID(), at: start + .seconds(9))
        #expect(breaker.look(at: start + .seconds(9)) == .wait(.seconds(30)))
    }

    @Test func `results older than ten seconds do not count`() {
        var breaker = transient
        for _ in 0..<60 { breaker.note(isFault: true, installID: UUID(), at: start) }
        for _ in 0..<60 { breaker.note(isFault: true, installID: UUID(), at: start + .seconds(11)) }
        #expect(breaker.look(at: start + .seconds(11)) == .go)
    }

    @Test func `ten faults in twenty seconds without a good result open it`() {
        var breaker = transient
        for index in 0..<10 { breaker.note(isFault: true, installID: UUID(), at: start + .seconds(2 * index)) }
        #expect(breaker.state == .closed)
        breaker.note(isFault: true, installID: UUID(), at: start + .seconds(20))
        #expect(breaker.state == .open)
    }

    @Test func `faults of one or two phones, and those that are minutes apart, leave it closed`() {
        var (sick, rare) = (transient, transient)
        let phones = [UUID(), UUID()]
        for index in 0..<60 {
            sick.note(isFault: true, installID: phones[index % 2], at: start + .seconds(2 * index))
            rare.note(isFault: true, installID: UUID(), at: start + .seconds(61 * index))
        }
        #expect(sick.state == .closed && rare.state == .closed)
    }

    @Test func `a good result among few faults keeps it closed`() {
        var breaker = transient
        for index in 0..<60 { breaker.note(isFault: index % 9 != 8, installID: UUID(), at: start + .seconds(2 * index)) }
        #expect(breaker.state == .closed)
    }

    @Test func `less than half is not enough`() {
        var breaker = transient
        for index in 0..<1000 { breaker.note(isFault: index % 10 < 4, installID: UUID(), at: start) }
        #expect(breaker.look(at: start) == .go)
    }

    @Test func `after its time five probes are let go, and all of them good close it`() {
        var breaker = opened()
        #expect(breaker.look(at: start + .seconds(29)) == .wait(.seconds(1)))
        let later = start + .seconds(30)
        for _ in 0..<5 {
            #expect(breaker.look(at: later) == .go)
            breaker.letGo()
        }
        #expect(breaker.look(at: later) == .wait(Breaker.probeWait))
        let closing = (0..<5).map { _ in breaker.note(isFault: false, installID: UUID(), at: later) }
        #expect(closing == [false, false, false, false, true])
        #expect(breaker.state == .closed && breaker.look(at: later) == .go)
    }

    @Test func `a bad probe opens it for twice as long, five minutes at most`() {
        var breaker = opened()
        var now = start
        var waits: [Duration] = []
        for _ in 0..<6 {
            guard case .wait(let wait) = breaker.look(at: now) else { break }
            waits.append(wait)
            now += wait
            #expect(breaker.look(at: now) == .go)
            breaker.letGo()
            breaker.note(isFault: true, installID: UUID(), at: now)
        }
        #expect(waits == [30, 60, 120, 240, 300, 300].map { .seconds($0) })
    }

    @Test func `a probe that never comes back does not keep it half open for ever`() {
        var breaker = opened()
        let later = start + .seconds(30)
        for _ in 0..<5 where breaker.look(at: later) == .go { breaker.letGo() }
        #expect(breaker.look(at: later + .seconds(59)) != .go)
        #expect(breaker.look(at: later + .seconds(60)) == .go)
    }
}

@Suite struct DeliveryRateTests {
    @Test func `a push that expired before its first attempt is not one of those that were tried`() {
        func word(_ outcome: DeliveryOutcome, attempt: Int, sentAt: Date? = nil) -> String {
            NotifierMetrics.word(DeliverySettlement(id: UUID(), outcome: outcome, attempt: attempt, sentAt: sentAt))
        }
        #expect(word(.expired, attempt: 1) == "expired_unsent")
        #expect(word(.expired, attempt: 1, sentAt: Date()) == "expired" && word(.expired, attempt: 2) == "expired")
        #expect(word(.failed, attempt: 1) == "failed" && word(.accepted, attempt: 1, sentAt: Date()) == "accepted")
    }
}

@Suite struct BreakersTests {
    private let phone = UUID()

    @Test func `a platform is not stopped by one phone, nor by a few between whom others are reached`() {
        let breakers = Breakers()
        for _ in 0..<20 { _ = breakers.note(.providerAuth, platform: "ios", installID: phone) }
        for _ in 0..<20 {
            _ = breakers.note(.providerAuth, platform: "ios", installID: UUID())
            _ = breakers.note(.accepted(name: "n"), platform: "ios", installID: UUID())
        }
        #expect(breakers.admit(platform: "ios") == nil && !breakers.isOpen(platform: "ios"))
    }

    @Test func `our own credentials stop everything until a push is accepted`() {
        let breakers = Breakers()
        #expect(breakers.admit(platform: "android") == nil && breakers.hasCredentials)
        _ = breakers.note(.config, platform: "android", installID: phone)
        #expect(breakers.admit(platform: "ios")?.code == "breaker_credentials")
        #expect(breakers.closure?.code == "breaker_credentials" && !breakers.hasCredentials)
    }

    @Test func `stray tokens of another project hold up nothing, and many of them without a success stop everything`() {
        let breakers = Breakers()
        for _ in 0..<20 { _ = breakers.note(.foreignTarget, platform: nil, installID: phone) }
        for _ in 0..<20 {
            _ = breakers.note(.foreignTarget, platform: nil, installID: UUID())
            _ = breakers.note(.accepted(name: "n"), platform: nil, installID: UUID())
        }
        #expect(breakers.closure == nil && breakers.hasCredentials)
        for _ in 0..<Breakers.foreignMin - 1 { _ = breakers.note(.foreignTarget, platform: nil, installID: UUID()) }
        #expect(breakers.closure == nil)
        _ = breakers.note(.foreignTarget, platform: nil, installID: UUID())
        #expect(breakers.closure?.code == "breaker_credentials" && !breakers.hasCredentials)
    }

    @Test func `a probe that belongs to another project leaves the breaker of our credentials open`() {
        let now = Mutex(ContinuousClock.now)
        let breakers = Breakers(clock: { now.withLock { $0 } })
        _ = breakers.note(.config, platform: nil, installID: phone)
        now.withLock { $0 += .seconds(30) }
        #expect(breakers.admit(platform: nil) == nil)
        _ = breakers.note(.foreignTarget, platform: nil, installID: phone)
        #expect(breakers.closure?.wait == .seconds(60))
    }

    @Test func `a platform's push service stops that platform only`() {
        let breakers = Breakers()
        for _ in 0..<3 { _ = breakers.note(.providerAuth, platform: "ios", installID: UUID()) }
        #expect(breakers.admit(platform: "ios")?.code == "breaker_provider_ios")
        #expect(breakers.admit(platform: "android") == nil && breakers.admit(platform: nil) == nil)
        #expect(breakers.closure == nil && breakers.hasCredentials && breakers.believesDeaths)
    }

    @Test func `while FCM is out of order nobody is believed to be dead`() {
        let breakers = Breakers()
        for _ in 0..<100 { _ = breakers.note(.transient(retryAfter: nil), platform: nil, installID: phone) }
        #expect(breakers.closure?.code == "breaker_transient")
        #expect(!breakers.believesDeaths && breakers.hasCredentials)
    }

    @Test func `a full quota and a cancelled send say nothing about FCM's health`() {
        let breakers = Breakers()
        for _ in 0..<500 { _ = breakers.note(.quota(retryAfter: .seconds(60)), platform: nil, installID: phone) }
        for _ in 0..<500 { _ = breakers.note(.cancelled, platform: nil, installID: phone) }
        #expect(breakers.closure == nil)
    }
}
