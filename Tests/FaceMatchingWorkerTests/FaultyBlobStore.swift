import NIOCore
import Synchronization

@testable import BlobStore

/// A store whose reads and deletions a test makes fail, and in whose first read it may change something.
final class FaultyBlobStore: BlobStore {
    private struct State {
        var readCount = 0
        var duringFirstRead: (@Sendable () async throws -> Void)?
        var readFault: BlobStoreError.Code?
        var deletionFault: BlobStoreError.Code?
    }

    private let store: any BlobStore
    private let state = Mutex(State())

    init(_ store: any BlobStore) { self.store = store }

    /// The number of reads, with those that failed.
    var readCount: Int { state.withLock { $0.readCount } }

    /// Runs `body` within the next read, before the object is read.
    func duringFirstRead(_ body: @escaping @Sendable () async throws -> Void) { state.withLock { $0.duringFirstRead = body } }

    /// Makes all reads fail; nil ends that.
    func failReads(_ code: BlobStoreError.Code?) { state.withLock { $0.readFault = code } }

    /// Makes all deletions fail; nil ends that.
    func failDeletions(_ code: BlobStoreError.Code?) { state.withLock { $0.deletionFault = code } }

    func write<Result: Sendable>(
        _ key: BlobKey, as access: BlobAccess, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result {
        try await store.write(key, as: access, body)
    }

    func read(_ key: BlobKey, kind: BlobKind, limit: Int) async throws(BlobStoreError) -> [UInt8] {
        let (body, fault) = state.withLock { state in
            state.readCount += 1
            defer { state.duringFirstRead = nil }
            return (state.duringFirstRead, state.readFault)
        }
        do { try await body?() } catch { throw BlobStoreError(.unavailable, "\(error)") }
        if let fault { throw BlobStoreError(fault, "injected") }
        return try await store.read(key, kind: kind, limit: limit)
    }

    func openMedia(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> any BlobReader {
        try await store.openMedia(key, limit: limit)
    }

    func link(to key: BlobKey, expires: Duration) -> String? { store.link(to: key, expires: expires) }

    func delete(_ keys: [BlobKey]) async throws(BlobStoreError) {
        if let fault = state.withLock({ $0.deletionFault }) { throw BlobStoreError(fault, "injected") }
        try await store.delete(keys)
    }

    func deleteAll(under prefix: BlobKey) async throws(BlobStoreError) { try await store.deleteAll(under: prefix) }

    func deleteStale(under prefix: BlobKey, olderThan age: Duration) async throws(BlobStoreError) -> Int {
        try await store.deleteStale(under: prefix, olderThan: age)
    }
}
