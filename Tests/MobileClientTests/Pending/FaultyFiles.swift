import Foundation

@testable import MobileClient

/// Real files whose changes stop working: once at a step (a full disk), or from a step on (the process ends there).
final class FaultyFiles: FileOperations, @unchecked Sendable {
    enum Fault: Hashable {
        /// The step fails without an effect, and the next ones work.
        case fail(step: Int)
        /// The process ends in the step; a write has written so many bytes by then.
        case crash(step: Int, bytes: Int)
    }

    struct Stopped: Error {}

    private let system = SystemFiles()
    private let fault: Fault?
    // Read and written under `lock`.
    private let lock = NSLock()
    private var counter = 0
    private var isDead = false

    init(_ fault: Fault? = nil) { self.fault = fault }

    /// The number of changes so far.
    var steps: Int { lock.withLock { counter } }

    /// The bytes that a write may still do at this step; nil for all. Throws when the step fails.
    private func step() throws -> Int? {
        try lock.withLock {
            guard !isDead else { throw Stopped() }
            counter += 1
            switch fault {
            case .fail(counter): throw Stopped()
            case .crash(counter, let bytes):
                isDead = true
                return bytes
            default: return nil
            }
        }
    }

    private func perform(_ body: () throws -> Void) throws {
        guard try step() == nil else { throw Stopped() }
        try body()
    }

    func read(_ file: URL) throws -> Data? {
        guard !lock.withLock({ isDead }) else { throw Stopped() }
        return try system.read(file)
    }

    func write(_ data: Data, to file: URL) throws {
        guard let bytes = try step() else { return try system.write(data, to: file) }
        try system.write(data.prefix(bytes), to: file)
        throw Stopped()
    }

    func move(_ file: URL, to other: URL) throws { try perform { try system.move(file, to: other) } }
    func syncFolder(_ folder: URL) throws { try perform { try system.syncFolder(folder) } }
    func remove(_ file: URL) throws { try perform { try system.remove(file) } }
    func createFolder(_ folder: URL) throws { try system.createFolder(folder) }

    func list(_ folder: URL) throws -> [FolderEntry] {
        guard !lock.withLock({ isDead }) else { throw Stopped() }
        return try system.list(folder)
    }
}
