import AsyncPrimitives
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AsyncSignalTests {
    @Test func `a signal wakes the waiting task`() async {
        let signal = AsyncSignal()
        async let waiting: Void = signal.wait()
        signal.signal()
        await waiting
    }

    @Test func `signals without a waiting task end one wait, and not a second`() async {
        let signal = AsyncSignal()
        signal.signal()
        signal.signal()
        await signal.wait()
        let clock = ManualClock()
        async let waiting: Void = signal.wait(upTo: .seconds(600), clock: clock)
        await clock.waitForSleep(of: .seconds(600))
        clock.advance(by: .seconds(600))
        await waiting
    }

    @Test func `a cancellation ends a wait, and prevents a later one`() async {
        let signal = AsyncSignal()
        let task = Task { await signal.wait() }
        task.cancel()
        await task.value
        let cancelledBefore = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await signal.wait()
        }
        await cancelledBefore.value
    }

    @Test func `a wait despite cancellation ends by a signal only`() async {
        let signal = AsyncSignal()
        let hasEnded = OneShot<Void>()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await signal.waitDespiteCancellation()
            return hasEnded.complete(())
        }
        // A cancellable wait of the same task would have ended by now.
        for _ in 0..<100 { await Task.yield() }
        #expect(hasEnded.complete(()), "the task still waits")
        signal.signal()
        #expect(await task.value == false)
    }

    @Test func `signals, time limits and cancellations may coincide`() async {
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

@Suite(.timeLimit(.minutes(1)))
struct AsyncLatchTests {
    @Test func `an open latch ends all waits, earlier and later ones`() async {
        let latch = AsyncLatch()
        #expect(!latch.isOpen)
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await latch.wait() } }
            latch.open()
        }
        #expect(latch.isOpen)
        await latch.wait()
    }

    @Test func `a wait ends at its time limit`() async {
        let (latch, clock) = (AsyncLatch(), ManualClock())
        async let waiting: Void = latch.wait(upTo: .seconds(600), clock: clock)
        await clock.waitForSleep(of: .seconds(600))
        clock.advance(by: .seconds(600))
        await waiting
        #expect(!latch.isOpen)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct OneShotTests {
    @Test(arguments: [true, false])
    func `the first value counts, set before the wait or during it`(isSetBefore: Bool) async {
        let value = OneShot<Int?>()
        if isSetBefore { #expect(value.complete(1)) }
        async let waiting = value.wait()
        if !isSetBefore {
            await Task.yield()
            #expect(value.complete(1))
        }
        #expect(!value.complete(2))
        #expect(await waiting == 1)
    }

    @Test func `nil is a value`() async {
        let value = OneShot<Int?>()
        value.complete(nil)
        #expect(await value.wait() == nil)
    }

    @Test func `a cancellation does not end the wait`() async {
        let value = OneShot<Int>()
        let task = Task { await value.wait() }
        task.cancel()
        value.complete(7)
        #expect(await task.value == 7)
    }
}
