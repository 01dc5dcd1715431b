import Testing

@testable import EventBus

@Suite("The pauses of the bus")
struct PauseTests {
    @Test func `double with each failure up to a limit`() {
        let pause = Pause(min: .milliseconds(50), max: .seconds(2))
        let expected: [Duration] = [50, 100, 200, 400, 800, 1600, 2000, 2000].map { .milliseconds($0) }
        #expect((1...8).map { pause.after(failures: $0, random: 0) } == expected)
        #expect(pause.after(failures: 0) == .zero)
        #expect(pause.after(failures: 1_000_000, random: 0) == .seconds(2))
    }

    @Test func `are shortened at random by up to a half`() {
        let pause = Pause(min: .milliseconds(100), max: .seconds(2))
        #expect(pause.after(failures: 1, random: 1) == .milliseconds(50))
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

@Suite("A bell")
struct BellTests {
    @Test func `wakes who waits`() async {
        let bell = Bell()
        async let waiting: Void = bell.wait()
        bell.ring()
        await waiting
    }

    @Test func `remembers one ring that nobody heard`() async {
        let bell = Bell()
        bell.ring()
        bell.ring()
        await bell.wait()
        let start = ContinuousClock.now
        await bell.wait(upTo: .milliseconds(20))
        #expect(ContinuousClock.now - start >= .milliseconds(20))
    }

    @Test func `lets a cancelled task go`() async {
        let bell = Bell()
        let task = Task { await bell.wait() }
        task.cancel()
        await task.value
        await Task { await bell.wait() }.cancelled()
    }

    @Test func `survives rings, limits and cancellations at the same time`() async {
        let bell = Bell()
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask { await bell.wait(upTo: .microseconds(index * 10)) }
                if index % 3 == 0 { group.addTask { bell.ring() } }
            }
            group.cancelAll()
        }
    }
}

@Suite("A latch")
struct LatchTests {
    @Test func `lets everybody go once it has fallen`() async {
        let latch = Latch()
        #expect(!latch.hasFallen)
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await latch.wait() } }
            latch.fall()
        }
        #expect(latch.hasFallen)
        await latch.wait()
    }

    @Test func `lets a waiting task go when its time is up`() async {
        let latch = Latch()
        await latch.wait(upTo: .milliseconds(5))
        #expect(!latch.hasFallen)
    }
}

extension Task where Failure == Never {
    fileprivate func cancelled() async {
        cancel()
        _ = await value
    }
}
