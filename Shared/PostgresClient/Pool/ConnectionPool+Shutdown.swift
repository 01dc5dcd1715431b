internal import DequeModule

extension ConnectionPool {
    /// Refuses new work, waits for the work under way, and closes all connections.
    func shutdown(drainTimeout: Duration) async {
        if case .closed = phase { return }
        let deadline = LoopClock.now + drainTimeout.clampedNanoseconds
        if case .draining(let earlier) = phase {
            phase = .draining(deadline: min(deadline, earlier))
        } else {
            phase = .draining(deadline: deadline)
        }
        endListening()
        loop.wake(at: deadline)
        await withCheckedContinuation { continuation in
            shutdownWaiters.append(continuation)
            finishDraining()
            // Ending the listeners may already have closed the pool.
            if case .closed = phase { resumeShutdownWaiters() }
        }
    }

    /// Closes all connections once no work is under way.
    func finishDraining() {
        guard case .draining = phase, waitingCount == 0, workers.allSatisfy(\.isIdle) else { return }
        closeAll()
    }

    func drainDeadlineReached(_ now: UInt64) {
        guard case .draining(let deadline) = phase else { return }
        if now >= deadline { closeAll() } else { loop.wake(at: deadline) }
    }

    private func closeAll() {
        if case .closed = phase { return }
        phase = .closed
        for unit in waiting where unit.state != .finished { unit.finish(.failure(.closed)) }
        waiting.removeAll()
        waitingCount = 0
        for connection in Array(connections.values) { close(connection, .closed) }
        resumeShutdownWaiters()
    }

    private func resumeShutdownWaiters() {
        let waiters = shutdownWaiters
        shutdownWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }

    private func endListening() {
        let subscribers = listening.subscribers.values.flatMap(\.values)
        listening.subscribers.removeAll()
        if case .connected(let lease) = listening.link { release(lease, discard: true) }
        listening.link = .none
        for continuation in subscribers { continuation.finish() }
    }
}
