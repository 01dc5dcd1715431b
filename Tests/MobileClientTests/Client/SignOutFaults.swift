import Foundation

@testable import MobileClient

/// Files of secrets that may be unreadable or unchangeable.
struct FaultySecretFiles: GuardedFiles {
    let fault: Locked<FaultyStore.Fault?>

    func access<Result>(_ access: FileAccess, _ body: () throws -> Result) throws -> Result {
        switch (fault.withLock { $0 }, access) {
        case (.locked, .read), (.locked, .list): throw CocoaError(.fileReadNoPermission)
        case (.locked, _), (.unchangeable, .change), (.unchangeable, .write): throw CocoaError(.fileWriteNoPermission)
        case (.full, .write): throw CocoaError(.fileWriteOutOfSpace)
        default: return try body()
        }
    }
}

/// The access to the stores of credentials at which a process ends.
final class StoreEnd: Sendable {
    private let left: Locked<Int?> = Locked(nil)
    private let limit: Int
    private let process: ClientProcess

    init(at limit: Int, _ process: ClientProcess) { (self.limit, self.process) = (limit, process) }

    /// Begins to count.
    func begin() { left.withLock { $0 = limit } }

    /// Counts an access, and never returns from the last one and those after it.
    func pass() async {
        let isLast = left.withLock { left in
            left = left.map { $0 - 1 }
            return left.map { $0 <= 0 } ?? false
        }
        if isLast { process.end() }
        if process.isOver { await ClientProcess.never() }
    }
}

/// A store of a process that ends at an access: before it has an effect.
struct EndingStore: CredentialStore {
    let store: any CredentialStore
    let end: StoreEnd

    func read() async throws -> Data? {
        await end.pass()
        return try await store.read()
    }

    func update<Answer: Sendable>(_ change: @Sendable (inout Data?) throws -> Answer) async throws -> Answer {
        await end.pass()
        return try await store.update(change)
    }
}
