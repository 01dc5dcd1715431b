import Synchronization

/// Falls once and stays down: tells any number of tasks that something is over.
final class AsyncLatch: Sendable {
    private let isDown = Atomic(false)
    private let signals = Mutex<[ObjectIdentifier: AsyncSignal]>([:])

    /// Whether it has fallen.
    var isOpen: Bool { isDown.load(ordering: .acquiring) }

    /// Lets it fall and wakes all who wait.
    func open() {
        let signals = signals.withLock { signals in
            isDown.store(true, ordering: .releasing)
            return signals
        }
        for signal in signals.values { signal.signal() }
    }

    /// Waits until it has fallen, at most for `limit`; returns at once when the task is cancelled.
    func wait(upTo limit: Duration? = nil) async {
        let signal = AsyncSignal()
        let mustWait = signals.withLock { signals in
            guard !isDown.load(ordering: .acquiring) else { return false }
            signals[ObjectIdentifier(signal)] = signal
            return true
        }
        guard mustWait else { return }
        await signal.wait(upTo: limit)
        signals.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(signal)) }
    }
}
