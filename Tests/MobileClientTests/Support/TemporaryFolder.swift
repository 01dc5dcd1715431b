import Foundation

/// A folder of its own for a test, which is removed at its end.
final class TemporaryFolder: Sendable {
    let url: URL

    /// - Parameter parent: Where the folder is made.
    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appending(path: "mobile-client-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Makes a folder in memory where the machine has such a place, for a test of what is written and not of a disk.
    static func inMemory() throws -> TemporaryFolder {
        let memory = URL(fileURLWithPath: "/dev/shm")
        return try FileManager.default.isWritableFile(atPath: memory.path) ? TemporaryFolder(in: memory) : TemporaryFolder()
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The names of all files below the folder, sorted.
    var files: [String] {
        let all = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
        return all.filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: url.appending(path: name).path, isDirectory: &isFolder)
            return !isFolder.boolValue
        }.sorted()
    }
}
