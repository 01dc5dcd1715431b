internal import Synchronization

/// Opens once and stays open; any number of tasks can wait for that.
public final class AsyncLatch: Sendable {
    private let opened = Atomic(false)
    private let signals = Mutex<[ObjectIdentifier: AsyncSignal]>([:])

    /// Makes a closed latch.
    public init() {}

    /// Whether it is open.
    public var isOpen: Bool { opened.load(ordering: .acquiring) }

    /// Opens it and wakes all waiting tasks.
    public func open() {
        let signals = signals.withLock { signals in
            opened.store(true, ordering: .releasing)
            return signals
        }
        for signal in signals.values { signal.signal() }
    }

    /// Waits until it is open, for at most `limit`; returns at once when the task is cancelled.
    public func wait(upTo limit: Duration? = nil, clock: any MonotonicClock = ContinuousClock()) async {
        let signal = AsyncSignal()
        let mustWait = signals.withLock { signals in
            guard !opened.load(ordering: .acquiring) else { return false }
            signals[ObjectIdentifier(signal)] = signal
            return true
        }
        guard mustWait else { return }
        await signal.wait(upTo: limit, clock: clock)
        signals.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(signal)) }
    }
}
