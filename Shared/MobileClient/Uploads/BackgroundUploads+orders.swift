internal import Foundation

/// Orders, and what comes of them.
extension BackgroundUploads {
    /// Writes an order down, so that it is uploaded whatever happens to the app; returns before it is uploaded.
    ///
    /// An order that is known already, by its id, stays as it is. Throws `storage`.
    func enqueue(_ order: UploadOrder) async throws(HeliographError) {
        try await start()
        let (task, record) = try await records.add(order)
        if let ending = record.ending {
            endings[order.id] = ending
        } else if let upload = record.upload(of: task) {
            orders[order.id] = (task, record)
            await runner.send(.enqueued(order.id, upload))
        }
    }

    /// Waits for the outcome of an order: the id of its job, or why it was refused. Throws `invalid_argument` for an unknown order, and
    /// `cancelled` when the waiting task is cancelled.
    func outcome(of id: UUID) async throws(HeliographError) -> String {
        try await start()
        let isKnown = await runner.state.uploads[id] != nil
        if endings[id] == nil, isKnown { await wait(for: id) }
        switch endings[id] {
        case .accepted(let jobID): return jobID
        case .refused(let refusal): throw refusal.error
        case nil where Task.isCancelled: throw HeliographError(.cancelled, "The wait for an order was cancelled")
        case nil: throw HeliographError(.invalidArgument, "There is no such order")
        }
    }

    /// Records that the app has stored the outcome of an order. After a restart the outcome is reported again only if the same order is
    /// enqueued again.
    func acknowledge(_ id: UUID) async { await runner.send(.acknowledged(id)) }

    /// Forgets an order that has its outcome, so that enqueuing it again uploads it again.
    func discard(_ id: UUID) async {
        guard endings[id] != nil else { return }
        await runner.send(.acknowledged(id))
        endings[id] = nil
        // If it stays, the order has the same outcome until its record is swept.
        try? await records.store.update(id) { $0 = nil }
    }

    /// Ends an order, unless it has an outcome. The API may have it already. Throws `storage`.
    func cancel(_ id: UUID) async throws(HeliographError) {
        try await start()
        await runner.send(.cancelled(id))
    }

    // MARK: Notifications

    /// A job was seen to be completed: shows a notification if the app is in the background and no push shows it.
    func jobCompleted(_ jobID: String, templateName: String?) async {
        guard notifier != nil else { return }
        templateNames[jobID] = templateName
        await runner.send(.jobCompleted(jobID))
    }

    /// A push about the end of a job was shown.
    func pushShown(_ jobID: String) async { await runner.send(.pushShown(jobID)) }

    // MARK: Waiting

    private func wait(for id: UUID) async {
        let waiter = UUID()
        let ending = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled, endings[id] == nil else { return continuation.resume(returning: endings[id]) }
                waiters[waiter] = (id, continuation)
            }
        } onCancel: {
            Task { await self.stopWaiting(waiter) }
        }
        if let ending { endings[id] = ending }
    }

    private func stopWaiting(_ waiter: UUID) { waiters.removeValue(forKey: waiter)?.continuation.resume(returning: nil) }

    func report(_ id: UUID, _ ending: Machine.Ending) {
        orders[id] = nil
        endings[id] = ending
        for (waiter, waiting) in waiters where waiting.order == id {
            waiters[waiter] = nil
            waiting.continuation.resume(returning: ending)
        }
    }
}
