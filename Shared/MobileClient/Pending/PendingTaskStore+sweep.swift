internal import Foundation

extension PendingTaskStore {
    /// Removes leftovers: tasks that are older than `age` with their files and secrets, and files and secrets that no task has named for an
    /// hour.
    ///
    /// The age of a task counts from its end, and from its beginning while it has not ended. A task that a part of this module follows is
    /// ended by that part, with an event for the app. That part must be resumed (``JobTracker``) before a sweep, because a sweep does not
    /// notify the app.
    /// - Returns: The removed tasks.
    @discardableResult
    func sweep(olderThan age: Duration = .seconds(86_400)) async throws(HeliographError) -> [PendingTask] {
        let now = time.now()
        // Listed before the tasks: a secret that comes later is younger than the list of tasks.
        let keys = try await secrets?.keys() ?? [:]
        let (expired, named) = try await withLock { () throws(HeliographError) -> ([PendingTask], Set<String>) in
            let tasks = try self.readAll()
            let expired = tasks.filter { $0.isOlder(than: age, at: now) }
            for task in expired { try self.replace(task, by: nil) }
            let kept = tasks.filter { !$0.isOlder(than: age, at: now) }
            try self.removeOrphans(besides: Set(kept.flatMap(\.files)), at: now)
            return (expired, Set(kept.flatMap(\.secrets)))
        }
        let ended = Set(expired.flatMap(\.secrets)).subtracting(named)
        for key in ended { try await secrets?.remove(key) }
        for (key, date) in keys where !named.contains(key) && !ended.contains(key) && date.isOlder(than: Self.orphanAge, at: now) {
            try await secrets?.remove(key)
        }
        return expired
    }

    private func removeOrphans(besides named: Set<String>, at now: Date) throws(HeliographError) {
        try HeliographError.storing("a file that no task names cannot be removed") {
            for entry in try operations.list(folders.files) where entry.modifiedAt.isOlder(than: Self.orphanAge, at: now) {
                let file = folders.files.appending(path: entry.name)
                if !named.contains(path(of: file)) { try operations.remove(file) }
            }
            // The store has the lock, so no write of a task is under way.
            for entry in try operations.list(folders.tasks) where entry.name.hasSuffix(".new") {
                try operations.remove(folders.tasks.appending(path: entry.name))
            }
            for entry in try operations.list(folders.quarantine) where entry.modifiedAt.isOlder(than: Self.quarantineAge, at: now) {
                try operations.remove(folders.quarantine.appending(path: entry.name))
            }
        }
    }
}
