public import NIOCore

/// Stores objects until they are deleted.
public protocol BlobStore: BlobLinks {
    /// Stores an object piece by piece. The object is whole and durable when this returns, and is not stored when this throws.
    ///
    /// - Parameters:
    ///   - key: The object's name; an existing object of that key is replaced.
    ///   - access: The way the object is stored and served.
    ///   - body: Writes the pieces. If it throws, the error is rethrown and no object is stored.
    func write<Result: Sendable>(
        _ key: BlobKey, as access: BlobAccess, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result

    /// Returns an object.
    ///
    /// - Parameters:
    ///   - key: The object's name.
    ///   - kind: The kind it was written as.
    ///   - limit: The most bytes it may have.
    /// - Throws: `notFound`, `tooLarge`, `damaged` (also when it is of another kind), `unavailable`.
    func read(_ key: BlobKey, kind: BlobKind, limit: Int) async throws(BlobStoreError) -> [UInt8]

    /// Opens a ``BlobKind/media`` object for reading piece by piece, so that memory does not grow with the object.
    ///
    /// - Parameter limit: The most bytes the object may have.
    /// - Throws: `notFound`, `tooLarge`, `damaged` (also when it is of another kind), `unavailable`.
    func openMedia(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> any BlobReader

    /// Deletes objects; keys without an object are ignored. Continues when the task is cancelled.
    func delete(_ keys: [BlobKey]) async throws(BlobStoreError)

    /// Deletes every object whose key begins with `prefix` and a slash. Continues when the task is cancelled.
    func deleteAll(under prefix: BlobKey) async throws(BlobStoreError)

    /// Deletes the groups of objects directly under `prefix` without a write for `age`, and the remains of interrupted writes. For a
    /// sweeper. A group that cannot be deleted does not stop the others; the first error is thrown at the end.
    ///
    /// - Returns: The number of deleted groups.
    func deleteStale(under prefix: BlobKey, olderThan age: Duration) async throws(BlobStoreError) -> Int
}

extension BlobStore {
    /// Stores a sealed object. See ``BlobStore/write(_:as:_:)``.
    public func write<Result: Sendable>(
        _ key: BlobKey, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result {
        try await write(key, as: .sealed, body)
    }

    /// Returns a sealed object. See ``BlobStore/read(_:kind:limit:)``.
    public func read(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> [UInt8] {
        try await read(key, kind: .sealed, limit: limit)
    }

    /// Returns a sealed object by its name; nil when it is missing or permanently unreadable.
    public func readIfPresent(_ name: String, limit: Int) async throws(BlobStoreError) -> [UInt8]? {
        do throws(BlobStoreError) {
            return try await read(BlobKey(name), limit: limit)
        } catch {
            switch error.code {
            case .notFound, .damaged, .tooLarge, .invalidKey: return nil
            case .unavailable: throw error
            }
        }
    }

    /// Stores a whole object.
    public func write(_ bytes: [UInt8], to key: BlobKey, as access: BlobAccess = .sealed) async throws {
        try await write(key, as: access) { try await $0.append(ByteBuffer(bytes: bytes)) }
    }
}

/// Receives the pieces of one object that is being stored.
public protocol BlobWriter: Sendable {
    /// Appends bytes to the object. Returns when the writer is ready for more. Waits for the local disk alone: a remote store gets the
    /// object once it is whole.
    func append(_ bytes: ByteBuffer) async throws(BlobStoreError)
}
