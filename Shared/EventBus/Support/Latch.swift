import Synchronization

/// Falls once and stays down: tells any number of tasks that something is over.
final class Latch: Sendable {
    private let isDown = Atomic(false)
    private let bells = Mutex<[ObjectIdentifier: Bell]>([:])

    /// Whether it has fallen.
    var hasFallen: Bool { isDown.load(ordering: .acquiring) }

    /// Lets it fall and wakes all who wait.
    func fall() {
        let bells = bells.withLock { bells in
            isDown.store(true, ordering: .releasing)
            return bells
        }
        for bell in bells.values { bell.ring() }
    }

    /// Waits until it has fallen, at most for `limit`; returns at once when the task is cancelled.
    func wait(upTo limit: Duration? = nil) async {
        let bell = Bell()
        let mustWait = bells.withLock { bells in
            guard !isDown.load(ordering: .acquiring) else { return false }
            bells[ObjectIdentifier(bell)] = bell
            return true
        }
        guard mustWait else { return }
        await bell.wait(upTo: limit)
        bells.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(bell)) }
    }
}
