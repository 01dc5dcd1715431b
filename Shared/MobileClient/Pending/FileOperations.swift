internal import Foundation

/// The operations on files that a crash or a full disk can interrupt, so that tests can do so at each of them.
protocol FileOperations: Sendable {
    /// The content of a file; nil when it does not exist. Throws when it exists and cannot be read now.
    func read(_ file: URL) throws -> Data?

    /// Writes a file that only the user of the process can read, and returns when the disk has it; replaces an existing file.
    ///
    /// On iOS it can be read once the device was unlocked after its start: a push or a background upload wakes the app on a locked device.
    func write(_ data: Data, to file: URL) throws

    /// Renames a file; replaces an existing file of the new name.
    func move(_ file: URL, to other: URL) throws

    /// Returns when the disk has the names of a folder.
    func syncFolder(_ folder: URL) throws

    /// Removes a file, if it exists.
    func remove(_ file: URL) throws

    /// Creates a folder with those that it is in, if it does not exist, and leaves it out of backups.
    func createFolder(_ folder: URL) throws

    /// The files of a folder; empty when it does not exist.
    func list(_ folder: URL) throws -> [FolderEntry]
}

extension FileOperations {
    /// Replaces a file in one step: after a crash it has the old content or the new one. Returns when the disk has it.
    ///
    /// - Parameter temporary: A name in the same folder that one writer at a time uses.
    func replace(_ file: URL, with data: Data, by temporary: URL) throws {
        do {
            try write(data, to: temporary)
            try move(temporary, to: file)
        } catch {
            try? remove(temporary)
            throw error
        }
        try syncFolder(file.deletingLastPathComponent())
    }

    /// Removes the files of a folder that are older than `age`. Files that cannot be removed now stay for the next time.
    func removeFiles(of folder: URL, olderThan age: Duration, at now: Date) {
        for entry in (try? list(folder)) ?? [] where entry.modifiedAt.isOlder(than: age, at: now) {
            try? remove(folder.appending(path: entry.name))
        }
    }
}

/// A file in a folder.
struct FolderEntry: Sendable, Hashable {
    var name: String
    var modifiedAt: Date
}

extension HeliographError {
    /// Runs operations on files, and says `storage` when one fails.
    static func storing<Result>(_ message: String, _ body: () throws -> Result) throws(HeliographError) -> Result {
        do { return try body() } catch let error as HeliographError { throw error } catch {
            throw HeliographError(.storage, "\(message): \((error as NSError).domain) \((error as NSError).code)")
        }
    }
}
