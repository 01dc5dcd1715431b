public import NIOCore

/// Keeps objects until they are deleted.
public protocol BlobStore: Sendable {
    /// Stores an object, piece by piece; it exists, whole and durable, when this returns, and not at all when it throws.
    ///
    /// - Parameters:
    ///   - key: the object's name; an object that has it is replaced.
    ///   - access: how it is kept, and handed out.
    ///   - body: writes the pieces. Whatever it throws is thrown on, and nothing is kept.
    func write<Result: Sendable>(
        _ key: BlobKey, as access: BlobAccess, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result

    /// Returns an object.
    ///
    /// - Parameters:
    ///   - key: the object's name.
    ///   - kind: how it was written.
    ///   - limit: the most bytes it may have.
    /// - Throws: `notFound`, `tooLarge`, `damaged` (also when it is of another kind), `unavailable`.
    func read(_ key: BlobKey, kind: BlobKind, limit: Int) async throws(BlobStoreError) -> [UInt8]

    /// Opens a ``BlobKind/media`` object, to be read piece by piece: memory does not grow with the object.
    ///
    /// - Parameter limit: the most bytes the object may have.
    /// - Throws: `notFound`, `tooLarge`, `damaged` (also when it is of another kind), `unavailable`.
    func openMedia(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> any BlobReader

    /// Returns a link by which anybody can read a ``BlobKind/media`` object until it expires, when the store can hand it out
    /// by itself; nil when somebody else has to. Whether there is such an object is not looked up.
    ///
    /// - Parameter expires: in at most seven days; later counts as seven days.
    func link(to key: BlobKey, expires: Duration) -> String?

    /// Deletes objects; those that do not exist are none of its business. Goes on when the task is cancelled.
    func delete(_ keys: [BlobKey]) async throws(BlobStoreError)

    /// Deletes every object whose key begins with this one and a slash. Goes on when the task is cancelled.
    func deleteAll(under prefix: BlobKey) async throws(BlobStoreError)

    /// Deletes the groups of objects directly under a key in which nothing was written for some time, and whatever
    /// interrupted writes left. For a sweeper. A group that cannot be deleted stops no other: the first error is thrown at the end.
    ///
    /// - Returns: how many groups were deleted.
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
}

/// Takes the pieces of one object that is being stored.
public protocol BlobWriter: Sendable {
    /// Adds bytes to the object. Returns when the writer is ready for more.
    func append(_ bytes: ByteBuffer) async throws(BlobStoreError)
}
