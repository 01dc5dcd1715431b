import Foundation
import Synchronization

/// A folder that is removed with its contents when its owner is released.
///
/// The path is short, because a Unix socket's path may have at most 107 bytes.
public final class TemporaryDirectory: Sendable {
    /// The absolute path of the folder, without a slash at its end.
    public let path: String

    /// The file system in memory, and the free bytes that it needs to be used.
    private static let memory = (path: "/dev/shm", minFreeBytes: 2 << 30)

    /// Makes a folder `/tmp/hg-XXXXXX` that every user of the machine may enter, so that a server that runs as
    /// another user can use it.
    ///
    /// - Parameter inMemory: Makes it in `/dev/shm` if that has room; for tests that create and remove thousands of files.
    public init(inMemory: Bool = false) throws {
        let parent = inMemory && Self.hasMemory ? Self.memory.path : "/tmp"
        var template = Array("\(parent)/hg-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw CocoaError(.fileWriteUnknown)
        }
        chmod(path, 0o755)
        self.path = path
        Leftovers.add(path)
    }

    private static var hasMemory: Bool {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0 >= memory.minFreeBytes
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        Leftovers.remove(path)
    }
}

/// Removes the folders that still exist when the process exits, such as those of shared servers.
private enum Leftovers {
    private static let paths = Mutex<Set<String>>([])
    private static let atExit: Void = {
        atexit { Leftovers.paths.withLock { $0 }.forEach { try? FileManager.default.removeItem(atPath: $0) } }
    }()

    static func add(_ path: String) {
        _ = atExit
        paths.withLock { _ = $0.insert(path) }
    }

    static func remove(_ path: String) { paths.withLock { _ = $0.remove(path) } }
}
