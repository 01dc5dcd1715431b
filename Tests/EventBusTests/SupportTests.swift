import Testing

@testable import EventBus

@Suite("The pauses of the bus")
struct BackoffTests {
    @Test func `double with each failure up to a limit`() {
        let backoff = Backoff(min: .milliseconds(50), max: .seconds(2))
        let expected: [Duration] = [50, 100, 200, 400, 800, 1600, 2000, 2000].map { .milliseconds($0) }
        #expect((1...8).map { backoff.delay(afterFailures: $0, random: 0) } == expected)
        #expect(backoff.delay(afterFailures: 0) == .zero)
        #expect(backoff.delay(afterFailures: 1_000_000, random: 0) == .seconds(2))
    }

    @Test func `are shortened at random by up to a half`() {
        let backoff = Backoff(min: .milliseconds(100), max: .seconds(2))
        #expect(backoff.delay(afterFailures: 1, random: 1) == .milliseconds(50))
    }

    @Test func `of the relay are none while there is more, short after work, and longer while there is none`() {
        var pace = RelayPace(OutboxRelayConfiguration())
        pace.relayed(500)
        #expect(pace.pause() == nil)
        pace.relayed(3)
        #expect(pace.pause() == .milliseconds(50))
        var pauses: [Duration?] = []
        for _ in 1...7 {
            pace.relayed(0)
            pauses.append(pace.pause())
        }
        #expect(pauses == [100, 200, 400, 800, 1000, 1000, 1000].map { .milliseconds($0) })
        pace.failed()
        #expect(pace.isFailing)
        #expect(pace.pause(random: 0) == .milliseconds(50))
        pace.failed()
        #expect(pace.pause(random: 0) == .milliseconds(100))
        pace.relayed(1)
        #expect(!pace.isFailing)
        #expect(pace.pause() == .milliseconds(50))
    }
}

@Suite("A signal")
struct AsyncSignalTests {
    @Test func `wakes who waits`() async {
        let signal = AsyncSignal()
        async let waiting: Void = signal.wait()
        signal.signal()
        await waiting
    }

    @Test func `remembers one ring that nobody heard`() async {
        let signal = AsyncSignal()
        signal.signal()
        signal.signal()
        await signal.wait()
        let start = ContinuousClock.now
        await signal.wait(upTo: .milliseconds(20))
        #expect(ContinuousClock.now - start >= .milliseconds(20))
    }

    @Test func `lets a cancelled task go`() async {
        let signal = AsyncSignal()
        let task = Task { await signal.wait() }
        task.cancel()
        await task.value
        await Task { await signal.wait() }.cancelled()
    }

    @Test func `survives rings, limits and cancellations at the same time`() async {
        let signal = AsyncSignal()
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask { await signal.wait(upTo: .microseconds(index * 10)) }
                if index % 3 == 0 { group.addTask { signal.signal() } }
            }
            group.cancelAll()
        }
    }
}

@Suite("A latch")
struct AsyncLatchTests {
    @Test func `lets everybody go once it has fallen`() async {
        let latch = AsyncLatch()
        #expect(!latch.isOpen)
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await latch.wait() } }
            latch.open()
        }
        #expect(latch.isOpen)
        await latch.wait()
    }

    @Test func `lets a waiting task go when its time is up`() async {
        let latch = AsyncLatch()
        await latch.wait(upTo: .milliseconds(5))
        #expect(!latch.isOpen)
    }
}

extension Task where Failure == Never {
    fileprivate func cancelled() async {
        cancel()
        _ = await value
    }
}

@Suite struct EntryIDTests {
    @Test(arguments: [EntryID.zero, EntryID(milliseconds: 1_700_000_000_000, sequence: 7), EntryID(milliseconds: .max, sequence: .max)])
    func `an id is read from its own text`(id: EntryID) {
        #expect(EntryID(id.description) == id)
    }

    @Test(arguments: ["", "-", "1", "1-", "-1", "1-2-3", "+1-2", "1-+2", " 1-2", "1-2 ", "a-1", "18446744073709551616-0", "１-2"])
    func `other texts are no ids`(text: String) {
        #expect(EntryID(text) == nil)
    }

    @Test func `ids are ordered by time, then by sequence`() {
        let ids = [EntryID(milliseconds: 1, sequence: 9), EntryID(milliseconds: 2, sequence: 0), EntryID(milliseconds: 2, sequence: 1)]
        #expect(ids.shuffled().sorted() == ids)
    }
}
