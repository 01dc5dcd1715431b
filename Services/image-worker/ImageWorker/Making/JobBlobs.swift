internal import BlobStore
internal import FoundationEssentials
internal import ImageProbe
internal import Imaging
internal import NIOCore
internal import Storage

/// The objects of a job, all under `images/<job>`.
struct JobBlobs: Sendable {
    /// The most bytes of an upload; identity-api holds them to the same.
    static let uploadBytesMax = 10 << 20
    /// The most bytes of what a generator gives: a 4K PNG and then some.
    static let rawBytesMax = 32 << 20

    /// What all jobs are under.
    static func root() throws(BlobStoreError) -> BlobKey { try BlobKey("images") }

    let store: any BlobStore
    let jobID: UUID

    private var prefix: String { "images/\(jobID.uuidString.lowercased())" }

    /// What a call of a generator gave.
    func rawKey(_ attempt: Int) throws(BlobStoreError) -> BlobKey { try BlobKey("\(prefix)/raw-\(attempt)") }

    /// Stores what a call of a generator gave, for this system only.
    func writeRaw(_ bytes: [UInt8], of attempt: Int) async throws {
        try await store.write(rawKey(attempt)) { try await $0.append(ByteBuffer(bytes: bytes)) }
    }

    /// Stores a picture that links may lead to, and returns its key: nobody can guess it, and no later one takes its place.
    ///
    /// - Parameter role: What it is, such as `result`.
    func writeMedia(_ picture: EncodedPicture, as role: String) async throws -> BlobKey {
        let random = UUID().uuidString.lowercased()
        let key = try BlobKey("\(prefix)/\(role)-\(random).\(picture.format.fileExtension)")
        try await store.write(key, as: .media(contentType: picture.format.mimeType)) {
            try await $0.append(ByteBuffer(bytes: picture.bytes))
        }
        return key
    }

    /// Returns an object, `nil` when there is none that can be read and never will be.
    func readIfPresent(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> [UInt8]? {
        do throws(BlobStoreError) {
            return try await store.read(key, limit: limit)
        } catch {
            switch error.code {
            case .notFound, .damaged, .tooLarge, .invalidKey: return nil
            case .unavailable: throw error
            }
        }
    }

    /// Deletes the upload and what generators gave; picture and thumbnail stay.
    func deleteInputs(upload: String?, attempts: Int) async throws(BlobStoreError) {
        var keys: [BlobKey] = []
        if let upload { keys.append(try BlobKey(upload)) }
        for attempt in 0..<attempts { keys.append(try rawKey(attempt + 1)) }
        try await store.delete(keys)
    }

    /// Deletes everything the job has.
    func deleteAll() async throws(BlobStoreError) {
        try await store.deleteAll(under: try BlobKey(prefix))
    }
}
