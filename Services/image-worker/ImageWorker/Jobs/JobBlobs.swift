internal import BlobStore
internal import FoundationEssentials
internal import ImageProbe
internal import Imaging
internal import WireFormat

/// The objects of a job.
struct JobBlobs: Sendable {
    /// Maximum size of a generator's picture in bytes: a 4K PNG with some reserve.
    static let maxRawBytes = 32 << 20

    let store: any BlobStore
    let jobID: UUID

    /// The key of the unprocessed picture of an attempt.
    func rawKey(_ attempt: Int) throws(BlobStoreError) -> BlobKey { try BlobFolder.imageJobs.key("raw-\(attempt)", of: jobID) }

    /// Stores a picture that media links may point to, and returns its key: random, so that it cannot be guessed or overwritten.
    ///
    /// - Parameter role: The first part of the file name, such as `result`.
    func writeMedia(_ picture: EncodedPicture, as role: String) async throws -> BlobKey {
        let key = try BlobFolder.imageJobs.key("\(role)-\(UUID().wireString).\(picture.format.fileExtension)", of: jobID)
        try await store.write(picture.bytes, to: key, as: .media(contentType: picture.format.mimeType))
        return key
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
        try await store.deleteAll(under: BlobFolder.imageJobs.prefix(of: jobID))
    }
}
