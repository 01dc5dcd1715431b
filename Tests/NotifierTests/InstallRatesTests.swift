import FCMEmulator
import FoundationEssentials
import PostgresClient
import Push
import Synchronization
import TestSupport
import Testing
import WireFormat

@testable import Notifier

@Suite struct CountSketchTests {
    @Test func `an id is counted, and hardly any other id with it`() {
        var sketch = CountSketch()
        let ids = (0..<100_000).map { _ in UUID() }
        let wrong = ids.count { sketch.add($0) > 3 }
        #expect(wrong < 100, "of a hundred thousand that were seen once")
        let one = UUIDv7.generate()
        let counts = (0..<300).map { _ in sketch.add(one) }
        #expect(counts[0] <= 3 && counts[9] >= 10 && counts[299] == 255, "never too little, and 255 at most")
        sketch.clear()
        #expect(sketch.add(one) == 1)
    }

    @Test func `hardly any of a hundred thousand ids seen five times counts as seen more than six times`() {
        var sketch = CountSketch()
        let ids = (0..<100_000).map { _ in UUID() }
        for _ in 0..<4 { for id in ids { _ = sketch.add(id) } }
        let wrong = ids.count { sketch.add($0) > InstallRates.freePerMinute }
        #expect(wrong < 20)
    }
}

extension InstallRates {
    /// Returns how long a push has to wait, after awaiting the grants it needs; nil when it may be sent.
    fileprivate func wait(_ installID: UUID, _ kind: NotificationKind) async -> Duration? {
        var admission = admit(installID, kind)
        while true {
            switch admission {
            case .go: return nil
            case .wait(let wait): return wait
            case .awaitGrant(let task):
                await task.value
                admission = admit(installID, kind, isCounted: true)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct InstallRatesTests {
    /// Returns the given grants in order, and then the last one for ever.
    private final class Bucket: Sendable {
        let asked = Mutex(0)
        let grants: [PushRateGrant]
        init(_ grants: [PushRateGrant]) { self.grants = grants }
        func take() -> PushRateGrant {
            asked.withLock { asked in
                defer { asked += 1 }
                return grants[min(asked, grants.count - 1)]
            }
        }
        var askedCount: Int { asked.withLock { $0 } }
    }

    private let clock = ManualClock()

    private func rates(_ bucket: Bucket) -> InstallRates {
        InstallRates(clock: clock, take: { _, _ in bucket.take() })
    }

    @Test func `installations with few pushes take no tokens`() async {
        let bucket = Bucket([PushRateGrant(count: 0, wait: .seconds(1))])
        let rates = rates(bucket)
        for _ in 0..<InstallRates.freePerMinute {
            for id in (0..<500).map({ _ in UUID() }) { #expect(await rates.wait(id, .chatMessage) == nil) }
        }
        let one = UUID()
        for _ in 0..<InstallRates.freePerMinute { #expect(await rates.wait(one, .chatMessage) == nil) }
        #expect(bucket.askedCount == 0)
        #expect(await rates.wait(one, .chatMessage) != nil)
    }

    @Test func `concurrent pushes take tokens in slices, one slice at a time`() async {
        let bucket = Bucket([PushRateGrant(count: InstallRates.slice, wait: .zero)])
        let rates = rates(bucket)
        let one = UUID()
        await withTaskGroup { group in
            for _ in 0..<106 { group.addTask { #expect(await rates.wait(one, .newPhotos) == nil) } }
        }
        #expect(bucket.askedCount == (106 - InstallRates.freePerMinute) / InstallRates.slice)
    }

    @Test func `pushes that have to wait are spread over slots`() async {
        let bucket = Bucket([PushRateGrant(count: 0, wait: .seconds(6))])
        let rates = rates(bucket)
        let one = UUID()
        var waits: [Duration] = []
        for _ in 0..<(InstallRates.freePerMinute + 4) {
            if let wait = await rates.wait(one, .jobCompleted) { waits.append(wait) }
        }
        #expect(waits == [6_000, 6_600, 7_200, 7_800].map { .milliseconds($0) })
        #expect(bucket.askedCount == 1)
    }

    @Test func `ten sign-in results a minute are sent whatever else an installation gets, and further ones wait`() async {
        let bucket = Bucket([PushRateGrant(count: 0, wait: .seconds(6))])
        let rates = rates(bucket)
        let (one, other) = (UUID(), UUID())
        for _ in 0..<20 { _ = await rates.wait(one, .chatMessage) }
        for _ in 0..<InstallRates.sessionsPerMinute { #expect(await rates.wait(one, .signIn) == nil) }
        #expect(await rates.wait(one, .signUp) == .seconds(60))
        #expect(await rates.wait(other, .signIn) == nil, "another phone's pushes do not wait")
        clock.advance(by: .seconds(60))
        #expect(await rates.wait(one, .signIn) == nil)
    }

    @Test func `pushes above the rate of an installation are deferred, and all arrive`() async throws {
        let (count, clock) = (110, ManualClock(isRunning: true))
        try await NotifierFixture.with(isRunning: false, clock: clock) { fixture in
            let (phone, other) = (fixture.emulator.mintToken(), fixture.emulator.mintToken())
            var all: [NotifierFixture.Addressed] = []
            for _ in 0..<count {
                all.append(
                    try await fixture.address(
                        [phone], content: .sample(.newPhotos), expiresIn: 86_400, lane: .normal))
            }
            let ids = all.flatMap(\.deliveryIDs)
            let find = { try await DeliveryRepository(fixture.postgres).find(ids: ids) }
            // All at once: pushes that come slowly do not have to wait.
            try await fixture.withNotifier {
                let waiting = try await eventually("some wait") {
                    let deliveries = try await find()
                    return deliveries.allSatisfy { $0.state.isTerminal || ($0.state == .pending && $0.code != nil) } ? deliveries : nil
                }
                let late = waiting.filter { !$0.state.isTerminal }
                #expect(late.allSatisfy { $0.code == "installation_rate" && $0.attempt == 0 } && !late.isEmpty)
                #expect(waiting.count { $0.state == .accepted } >= InstallRates.freePerMinute + 50)
                let elsewhere = try await fixture.settled(
                    fixture.address([other], content: .sample(.newPhotos), lane: .normal))
                #expect(elsewhere.first?.state == .accepted, "other installations do not wait")

                // As if time had passed.
                clock.advance(by: .seconds(10))
                try await fixture.postgres.execute("UPDATE push_install_rates SET minute_tokens = 60")
                try await fixture.postgres.execute("UPDATE deliveries SET due_at = now() WHERE state = 'pending'")
                try await eventually("all have arrived") {
                    try await find().allSatisfy { $0.state == .accepted }
                }
                #expect(await fixture.emulator.messages(to: phone).count == count)
            }
        }
    }
}
