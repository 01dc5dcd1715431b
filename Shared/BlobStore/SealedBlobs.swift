/// A sealed object, and the id of the key that sealed it.
public struct SealedBlob: Sendable, Hashable {
    /// The name of the object.
    public let key: BlobKey
    /// The id of the key; nil when the object does not begin as a sealed one.
    public let keyID: String?
}

/// Finds sealed objects by the keys that sealed them, reseals them with the current key, and verifies that they open.
public protocol SealedBlobs: Sendable {
    /// Calls `body` with pages of the sealed objects whose keys begin with `prefix` and a slash. Objects that appear or disappear
    /// meanwhile may be missing; each object costs one read of its beginning.
    func forEachSealed(under prefix: BlobKey, _ body: ([SealedBlob]) async throws -> Void) async throws

    /// Reseals an object with the current key. The new object replaces the old one atomically: a reader sees either of them, whole. An
    /// object that is deleted meanwhile stays deleted.
    ///
    /// - Parameter limit: The most bytes it may have.
    /// - Returns: Whether the object existed.
    /// - Throws: `damaged` when it does not open, `tooLarge`, `unavailable`.
    func reseal(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> Bool

    /// Opens an object whole, and forgets its content.
    ///
    /// - Parameter limit: The most bytes it may have.
    /// - Returns: Whether it was there to be opened.
    /// - Throws: `damaged` when it does not open, `tooLarge`, `unavailable`.
    func verify(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> Bool
}
