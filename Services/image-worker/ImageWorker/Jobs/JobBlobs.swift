internal import BlobStore
internal import FoundationEssentials
internal import ImageProbe
internal import Imaging
internal import NIOCore
internal import Storage
internal import WireFormat

/// The objects of a job, all under `images/<job>`.
struct JobBlobs: Sendable {
    /// Maximum size of an upload in bytes; identity-api applies the same limit.
    static let maxUploadBytes = 10 << 20
    /// Maximum size of a generator's picture in bytes: a 4K PNG with some reserve.
    static let maxRawBytes = 32 << 20

    /// The key prefix of all jobs.
    static func root() throws(BlobStoreError) -> BlobKey { try BlobKey("images") }

    let store: any BlobStore
    let jobID: UUID

    private var prefix: String { "images/\(jobID.wireString)" }

    /// The key of the unprocessed picture of an attempt.
    func rawKey(_ attempt: Int) throws(BlobStoreError) -> BlobKey { try BlobKey("\(prefix)/raw-\(attempt)") }

    /// Stores the unprocessed picture of an attempt as an internal object, which media links cannot reach.
    func writeRaw(_ bytes: [UInt8], of attempt: Int) async throws {
        try await store.write(rawKey(attempt)) { try await $0.append(ByteBuffer(bytes: bytes)) }
    }

    /// Stores a picture that media links may point to, and returns its key: random, so that it cannot be guessed or overwritten.
    ///
    /// - Parameter role: The first part of the file name, such as `result`.
    func writeMedia(_ picture: EncodedPicture, as role: String) async throws -> BlobKey {
        let random = UUID().wireString
        let key = try BlobKey("\(prefix)/\(role)-\(random).\(picture.format.fileExtension)")
        try await store.write(key, as: .media(contentType: picture.format.mimeType)) {
            try await $0.append(ByteBuffer(bytes: picture.bytes))
        }
        return key
    }

    /// Returns an object; `nil` when it is missing or permanently unreadable.
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

    /// Deletes the upload and the unprocessed pictures; keeps the result and its thumbnail.
    func deleteInputs(upload: String?, attempts: Int) async throws(BlobStoreError) {
        var keys: [BlobKey] = []
        if let upload { keys.append(try BlobKey(upload)) }
        for attempt in 0..<attempts { keys.append(try rawKey(attempt + 1)) }
        try await store.delete(keys)
    }

    /// Deletes all objects of the job.
    func deleteAll() async throws(BlobStoreError) {
        try await store.deleteAll(under: try BlobKey(prefix))
    }
}
