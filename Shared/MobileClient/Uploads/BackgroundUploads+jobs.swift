internal import Foundation

extension BackgroundUploads {
    /// The orders of a ``JobTracker``, uploaded in the background.
    ///
    /// An order of the tracker waits here for as long as its upload takes. After a restart the tracker orders again under the same id, and
    /// gets the outcome of the upload that went on meanwhile.
    /// - Parameter store: The tracker's store, with the files of its orders.
    nonisolated func orders(from store: PendingTaskStore) -> JobTracker.Order {
        { task throws(HeliographError) in try await self.order(task, from: store) }
    }

    private func order(_ task: PendingTask, from store: PendingTaskStore) async throws(HeliographError) -> String {
        let record: JobRecord = try task.decode()
        guard let file = task.files.first.flatMap({ store.url(of: $0) }), FileManager.default.fileExists(atPath: file.path) else {
            throw HeliographError(.invalidArgument, "The file of the order is gone")
        }
        try await enqueue(
            UploadOrder(id: task.id, createdAt: task.createdAt, file: file, boundary: record.boundary, owner: record.owner))
        do throws(HeliographError) {
            let jobID = try await outcome(of: task.id)
            // Also before the tracker has written it down: until the record is swept, the same order has the same outcome.
            await acknowledge(task.id)
            return jobID
        } catch {
            guard !Task.isCancelled else { throw error }
            // The tracker decides whether to order again.
            await discard(task.id)
            throw error.code == .storage ? HeliographError(.invalidArgument, error.message) : error
        }
    }
}
