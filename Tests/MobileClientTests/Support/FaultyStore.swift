import Foundation

@testable import MobileClient

/// A store that may have no space, be unreadable, or be unchangeable.
struct FaultyStore: CredentialStore {
    enum Fault {
        /// What is kept can be read and removed, and not written.
        case full
        /// Nothing can be read or changed: the device was not unlocked since its start.
        case locked
        /// What is kept can be read, and neither written nor removed.
        case unchangeable
    }

    let store: any CredentialStore
    let fault: Locked<Fault?>

    func read() async throws -> Data? {
        if fault.withLock({ $0 }) == .locked { throw CocoaError(.fileReadNoPermission) }
        return try await store.read()
    }

    func update<Answer: Sendable>(_ change: @Sendable (inout Data?) throws -> Answer) async throws -> Answer {
        let fault = fault.withLock { $0 }
        if fault == .locked { throw CocoaError(.fileReadNoPermission) }
        return try await store.update { data in
            let kept = data
            let answer = try change(&data)
            guard data != kept, fault != nil, fault == .unchangeable || data != nil else { return answer }
            throw CocoaError(fault == .full ? .fileWriteOutOfSpace : .fileWriteNoPermission)
        }
    }
}
