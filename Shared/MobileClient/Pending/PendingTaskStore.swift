internal import Foundation

/// Keeps pending tasks in a folder that the app and its extensions share, so that they survive an end of the process at any moment.
///
/// Each task is a file of its own that is written under another name, synchronised and renamed: after a crash it is the old one or the new
/// one, and a change costs the same whether one task is pending or a thousand. Every operation holds a lock between processes and reads the
/// disk. An unreadable file is moved to `quarantine`, and the store continues without it.
actor PendingTaskStore {
    /// The time after which a file that no task names counts as lost. A file is written before the task that names it.
    static let orphanAge = Duration.seconds(3600)
    /// The time for which a file that cannot be understood is kept.
    static let quarantineAge = Duration.seconds(7 * 86_400)

    nonisolated let folder: URL
    let time: TimeSource
    let operations: any FileOperations
    let secrets: (any PendingSecrets)?
    private let lock: FileLock
    private var isPrepared = false

    /// - Parameters:
    ///   - folder: A folder for this store only. It is created.
    ///   - secrets: The store of the secrets that tasks name; they are removed with their tasks.
    init(
        folder: URL, time: TimeSource = .system, secrets: (any PendingSecrets)? = nil, operations: any FileOperations = SystemFiles(),
        pause: (@Sendable () async -> Void)? = nil
    ) {
        self.folder = folder
        self.time = time
        self.secrets = secrets
        self.operations = operations
        lock = FileLock(folder.appending(path: "lock"), pause: pause)
    }

    // MARK: Tasks

    /// All tasks, the oldest first.
    func tasks() async throws(HeliographError) -> [PendingTask] {
        try await withLock { () throws(HeliographError) in try self.readAll() }
    }

    /// A task; nil when it is not pending.
    func task(_ id: UUID) async throws(HeliographError) -> PendingTask? {
        try await withLock { () throws(HeliographError) in try self.read(id) }
    }

    /// Changes the task that is on the disk now; `change` gets nil when there is no such task, and sets nil to remove it.
    ///
    /// Files and secrets that the task named before, and not after, are removed once the change is on the disk.
    /// - Returns: What `change` returned. After an error the task is the old one or, if only the end of the change failed, the new one.
    func update<Result: Sendable>(
        _ id: UUID, _ change: @Sendable (inout PendingTask?) throws(HeliographError) -> Result
    ) async throws(HeliographError) -> Result {
        let (result, secrets) = try await withLock { () throws(HeliographError) -> (Result, Set<String>) in
            let old = try self.read(id)
            var new = old
            let result = try change(&new)
            guard new != old else { return (result, []) }
            if let new { precondition(new.id == id, "a task keeps its id") }
            try self.replace(old, by: new)
            return (result, Set(old?.secrets ?? []).subtracting(new?.secrets ?? []))
        }
        for key in secrets { try await self.secrets?.remove(key) }
        return result
    }

    // MARK: Files

    /// A name for a new file, which a task may have in its `files`; the caller writes it.
    func newFile(extension suffix: String) async throws(HeliographError) -> URL {
        try prepare()
        let suffix = suffix.lowercased().unicodeScalars.filter { ("a"..."z").contains($0) || ("0"..."9").contains($0) }.prefix(8)
        let name = UUID().wireText + (suffix.isEmpty ? "" : "." + String(String.UnicodeScalarView(suffix)))
        return folders.files.appending(path: name)
    }

    /// The path of a file of ``newFile(extension:)``, as it stands in `files` of a task.
    nonisolated func path(of file: URL) -> String { "files/" + file.lastPathComponent }

    /// The file of a path in `files` of a task; nil for a path that is not one of this folder's files.
    nonisolated func url(of path: String) -> URL? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "files", !parts[1].isEmpty, !parts[1].hasPrefix(".") else { return nil }
        return folders.files.appending(path: String(parts[1]))
    }

    // MARK: Inside

    nonisolated var folders: (tasks: URL, files: URL, quarantine: URL) {
        (folder.appending(path: "tasks"), folder.appending(path: "files"), folder.appending(path: "quarantine"))
    }

    func withLock<Result: Sendable>(_ body: () throws(HeliographError) -> Result) async throws(HeliographError) -> Result {
        try prepare()
        do throws(HeliographError) { return try await lock.withLock(body) } catch {
            // The folder may have been removed under the store.
            isPrepared = false
            throw error
        }
    }

    private func prepare() throws(HeliographError) {
        guard !isPrepared else { return }
        try HeliographError.storing("the folder of the pending tasks cannot be created") {
            for folder in [folders.tasks, folders.files, folders.quarantine] { try operations.createFolder(folder) }
        }
        isPrepared = true
    }
}
