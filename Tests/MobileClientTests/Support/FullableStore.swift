import Foundation

@testable import MobileClient

/// A store that may have no space: what is kept can be read and removed, and not written.
struct FullableStore: CredentialStore {
    let store: any CredentialStore
    let isFull: Locked<Bool>

    func read() async throws -> Data? { try await store.read() }

    func update<Answer: Sendable>(_ change: @Sendable (inout Data?) throws -> Answer) async throws -> Answer {
        try await store.update { [isFull] data in
            let kept = data
            let answer = try change(&data)
            if data != kept, data != nil, isFull.withLock({ $0 }) { throw CocoaError(.fileWriteOutOfSpace) }
            return answer
        }
    }
}
