internal import Foundation

/// The operations of the store under its lock.
extension PendingTaskStore {
    /// The format of a task's file. A file of a later version, which a newer app left, is put aside and not misunderstood.
    static let version = 1

    private struct Version: Codable { var version: Int }

    private struct Envelope: Codable {
        var version: Int
        var task: PendingTask
    }

    func readAll() throws(HeliographError) -> [PendingTask] {
        let entries = try HeliographError.storing("the pending tasks cannot be listed") { try operations.list(folders.tasks) }
        var tasks: [PendingTask] = []
        for entry in entries where entry.name.hasSuffix(".json") {
            if let task = try read(folders.tasks.appending(path: entry.name)) { tasks.append(task) }
        }
        return tasks.sorted { ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString) }
    }

    func read(_ id: UUID) throws(HeliographError) -> PendingTask? { try read(url(of: id)) }

    private func read(_ file: URL) throws(HeliographError) -> PendingTask? {
        try HeliographError.storing("a pending task cannot be read") {
            guard let data = try operations.read(file) else { return nil }
            let decoder = JSONDecoder()
            if let version = try? decoder.decode(Version.self, from: data), version.version == Self.version,
                let envelope = try? decoder.decode(Envelope.self, from: data),
                url(of: envelope.task.id).lastPathComponent == file.lastPathComponent
            {
                return envelope.task
            }
            let name = "\(file.deletingPathExtension().lastPathComponent)-\(UUID().wireText.prefix(8)).json"
            try operations.move(file, to: folders.quarantine.appending(path: name))
            return nil
        }
    }

    /// Makes the change durable, and then removes the files that it has left without a task.
    func replace(_ old: PendingTask?, by new: PendingTask?) throws(HeliographError) {
        try HeliographError.storing("a pending task cannot be kept") {
            if let new {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys]
                let data = try encoder.encode(Envelope(version: Self.version, task: new))
                let file = url(of: new.id)
                // One writer at a time has the lock, so a temporary file of before is one of a crash.
                try operations.replace(file, with: data, by: file.appendingPathExtension("new"))
            } else if let old {
                try operations.remove(url(of: old.id))
                try operations.syncFolder(folders.tasks)
            }
        }
        try remove(Set(old?.files ?? []).subtracting(new?.files ?? []))
    }

    func remove(_ paths: Set<String>) throws(HeliographError) {
        try HeliographError.storing("a file of a pending task cannot be removed") {
            for path in paths {
                // A path outside of the folder does not name a file of this store.
                if let file = url(of: path) { try operations.remove(file) }
            }
        }
    }

    nonisolated func url(of id: UUID) -> URL { folders.tasks.appending(path: id.wireText + ".json") }
}
