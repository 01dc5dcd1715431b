import Foundation

@testable import MobileClient

/// A store of credentials on a device that can be locked: then it can be neither read nor written, or only read.
struct LockableStore: CredentialStore {
    enum Lock { case none, reads, writes }

    struct Locked: Error {}

    let store: any CredentialStore
    let lock: MobileClient.Locked<Lock>

    func read() async throws -> Data? {
        guard lock.withLock({ $0 != .reads }) else { throw Locked() }
        return try await store.read()
    }

    func update<Answer: Sendable>(_ change: @Sendable (inout Data?) throws -> Answer) async throws -> Answer {
        guard lock.withLock({ $0 == .none }) else { throw Locked() }
        return try await store.update(change)
    }
}
