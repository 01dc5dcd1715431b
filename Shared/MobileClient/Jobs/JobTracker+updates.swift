internal import Foundation

/// How readers get updates.
extension JobTracker {
    /// A reader's place. When the last reference goes, the reader has gone.
    private final class Place: Sendable {
        let id = UUID()
        let order: UUID?
        private let tracker: JobTracker

        init(_ order: UUID?, in tracker: JobTracker) {
            self.order = order
            self.tracker = tracker
        }

        deinit { Task { [tracker, id] in await tracker.leave(id) } }

        func next() async -> JobUpdate? { await tracker.next(of: id, following: order) }
    }

    /// The updates of an order, or of all for nil. Each reader gets the last update first, and each end once.
    ///
    /// The stream of one order finishes after its end; one of an order that this device does not know is empty. A reader that comes back
    /// for the next update, or goes, has acknowledged the end that it took.
    nonisolated func updates(of order: UUID?) -> AsyncStream<JobUpdate> {
        let place = Place(order, in: self)
        return AsyncStream { await place.next() }
    }

    func emit(_ state: JobUpdate.State, of id: UUID) {
        guard let entry = entries[id] else { return }
        let update = JobUpdate(id: id, jobID: entry.jobID, state: state)
        entries[id]?.latest = update
        for reader in (readers[id] ?? []).union(readers[nil] ?? []) {
            mailboxes[reader]?.put(update)
            wake(reader)
        }
    }

    private func next(of reader: UUID, following order: UUID?) async -> JobUpdate? {
        if mailboxes[reader] == nil { await enter(reader, order) }
        for id in mailboxes[reader]?.takeHanded() ?? [] { await acknowledge(id) }
        guard !Task.isCancelled, mailboxes[reader] != nil else { return nil }
        if let update = mailboxes[reader]?.take() { return update }
        guard mailboxes[reader]?.isOver == false else { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard mailboxes[reader] != nil else { return continuation.resume(returning: nil) }
                // Two calls of one reader at a time are an error of the reader; but neither call may wait for ever.
                mailboxes[reader]?.waiter?.resume(returning: nil)
                mailboxes[reader]?.waiter = continuation
            }
        } onCancel: {
            Task { await self.leave(reader) }
        }
    }

    private func enter(_ reader: UUID, _ order: UUID?) async {
        // A store that cannot be read now has no orders for this reader.
        try? await start()
        var mailbox = JobMailbox(order: order)
        let updates = order.map { [entries[$0]?.latest ?? ended[$0]] } ?? entries.values.map(\.latest)
        for update in updates.compactMap(\.self) { mailbox.put(update) }
        if let order, entries[order] == nil { mailbox.closeAfterLast() }
        mailboxes[reader] = mailbox
        readers[order, default: []].insert(reader)
    }

    private func wake(_ reader: UUID) {
        guard let waiter = mailboxes[reader]?.waiter, let update = mailboxes[reader]?.take() else { return }
        mailboxes[reader]?.waiter = nil
        waiter.resume(returning: update)
    }

    private func leave(_ reader: UUID) async {
        guard var mailbox = mailboxes.removeValue(forKey: reader) else { return }
        mailbox.waiter?.resume(returning: nil)
        readers[mailbox.order]?.remove(reader)
        if readers[mailbox.order]?.isEmpty == true { readers[mailbox.order] = nil }
        for id in mailbox.takeHanded() { await acknowledge(id) }
    }
}
