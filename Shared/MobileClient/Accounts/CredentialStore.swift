public import Foundation

/// Keeps the credentials of an account for app and notification extension.
public protocol CredentialStore: Sendable {
    /// Reads the stored record; nil without a record.
    func read() async throws -> Data?

    /// Changes the stored record as one step with regard to all processes that share it.
    ///
    /// - Parameter change: Gets the stored record, and sets the record to store; nil removes it. An error changes nothing.
    func update<Answer: Sendable>(_ change: @Sendable (inout Data?) throws -> Answer) async throws -> Answer
}

/// Keeps credentials in a file, which app and notification extension share in the folder of their app group.
///
/// The file can be read once the device was unlocked after its start, as a notification extension needs it, and is not in backups. A lock
/// on a file beside it (`….lock`) makes a change one step; it is held for the change only, never while the process waits for a network.
public struct FileCredentialStore: CredentialStore {
    private let file: URL
    private let lock: FileLock
    private let operations = SystemFiles()

    /// - Parameter file: The file, whose folder is made if it does not exist.
    public init(file: URL) {
        self.file = file
        lock = FileLock(file.appendingPathExtension("lock"))
    }

    /// Reads the file; nil when it does not exist.
    public func read() async throws -> Data? { try operations.read(file) }

    /// Changes the file under a lock that other processes respect, and replaces it as a whole; an equal value is not written.
    ///
    /// - Throws: The error of `change`, `storage` when another process holds the lock for seconds, or an error of the file system.
    public func update<Answer: Sendable>(_ change: @Sendable (inout Data?) throws -> Answer) async throws -> Answer {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        return try await lock.withLock { Result { try changeFile(change) } }.get()
    }

    private func changeFile<Answer>(_ change: (inout Data?) throws -> Answer) throws -> Answer {
        let kept = try operations.read(file)
        var data = kept
        let answer = try change(&data)
        guard data != kept else { return answer }
        if let data {
            // Under the lock, so one name will do, and a file left by an ended process is overwritten.
            try operations.replace(file, with: data, by: file.appendingPathExtension("new"))
        } else {
            // A process may have ended before it had renamed its temporary file.
            try operations.remove(file.appendingPathExtension("new"))
            try operations.remove(file)
            try operations.syncFolder(file.deletingLastPathComponent())
        }
        return answer
    }
}
