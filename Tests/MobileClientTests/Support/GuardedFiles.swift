import Foundation

@testable import MobileClient

/// An access to a file, or to a folder.
enum FileAccess {
    case read(URL)
    case write(URL)
    case list
    case change
}

/// Real files, each access to which a test may count, refuse, or keep the result of.
protocol GuardedFiles: FileOperations {
    /// Performs an access by `body`, or throws in its place.
    func access<Result>(_ access: FileAccess, _ body: () throws -> Result) throws -> Result
}

extension GuardedFiles {
    private var system: SystemFiles { SystemFiles() }

    func read(_ file: URL) throws -> Data? { try access(.read(file)) { try system.read(file) } }
    func write(_ data: Data, to file: URL) throws {
        try access(.write(file)) { try system.write(data, to: file) }
    }
    func move(_ file: URL, to other: URL) throws { try access(.change) { try system.move(file, to: other) } }
    func syncFolder(_ folder: URL) throws { try access(.change) { try system.syncFolder(folder) } }
    func remove(_ file: URL) throws { try access(.change) { try system.remove(file) } }
    func createFolder(_ folder: URL) throws { try access(.change) { try system.createFolder(folder) } }
    func list(_ folder: URL) throws -> [FolderEntry] { try access(.list) { try system.list(folder) } }
}
