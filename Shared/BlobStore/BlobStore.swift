public import NIOCore

/// Keeps objects, sealed, until they are deleted.
public protocol BlobStore: Sendable {
    /// Stores an object, piece by piece; it exists, whole and durable, when this returns, and not at all when it throws.
    ///
    /// - Parameters:
    ///   - key: the object's name; an object that has it is replaced.
    ///   - body: writes the pieces. Whatever it throws is thrown on, and nothing is kept.
    func write<Result: Sendable>(
        _ key: BlobKey, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result

    /// Returns an object.
    ///
    /// - Parameter limit: the most bytes it may have.
    /// - Throws: `notFound`, `tooLarge`, `damaged`, `unavailable`.
    func read(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> [UInt8]

    /// Deletes objects; those that do not exist are none of its business. Goes on when the task is cancelled.
    func delete(_ keys: [BlobKey]) async throws(BlobStoreError)

    /// Deletes every object whose key begins with this one and a slash. Goes on when the task is cancelled.
    func deleteAll(under prefix: BlobKey) async throws(BlobStoreError)

    /// Deletes the groups of objects directly under a key in which nothing was written for some time, and whatever
    /// interrupted writes left. For a sweeper.
    ///
    /// - Returns: how many groups were deleted.
    func deleteStale(under prefix: BlobKey, olderThan age: Duration) async throws(BlobStoreError) -> Int
}

/// Takes the pieces of one object that is being stored.
public protocol BlobWriter: Sendable {
    /// Adds bytes to the object. Returns when the writer is ready for more.
    func append(_ bytes: ByteBuffer) async throws(BlobStoreError)
}
