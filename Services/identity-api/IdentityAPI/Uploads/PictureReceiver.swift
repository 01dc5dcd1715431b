internal import BlobStore
internal import ImageProbe
internal import Logging
internal import NIOCore

/// Checks a picture and stores it while it arrives.
struct PictureReceiver {
    let blobs: any BlobStore
    let limits: ImageLimits
    /// The slot of the transfer, which gives each piece its turn.
    let slot: UploadSlots.Slot
    /// Called after each piece.
    var onProgress: () async throws -> Void = {}

    /// Reads a picture that has begun to its end: checks, hashes and seals each piece before it requests the next. The bytes alone
    /// determine its type, whatever the client declares.
    ///
    /// - Parameter key: the key to store the picture under; nil to check it without storing it.
    /// - Returns: the checked picture. When this throws, nothing of the picture is stored.
    func receive(_ body: inout some UploadBody, field: String, as key: BlobKey?) async throws -> PictureCheck.Passed {
        guard let key else { return try await check(&body, field, writingTo: nil) }
        var source = body
        defer { body = source }
        return try await blobs.write(key) { writer in try await check(&source, field, writingTo: writer) }
    }

    private func check(
        _ body: inout some UploadBody, _ field: String, writingTo writer: (any BlobWriter)?
    ) async throws -> PictureCheck.Passed {
        var check = PictureCheck(field: field, limits: limits)
        while let piece = try await body.next() {
            switch piece {
            case .pictureData(let bytes):
                try await slot.inTurn(byteCount: bytes.readableBytes) {
                    try check.take(bytes)
                    try await writer?.append(bytes)
                }
                try await onProgress()
            case .pictureEnded: return try check.finish()
            case .field, .pictureBegan: throw APIError.internal
            }
        }
        throw APIError.internal
    }
}

extension BlobStore {
    /// Runs the part of a request that stores objects under a prefix. When it fails, they are deleted, unless the row that they belong to
    /// may have been written (``OutcomeUnknown``).
    func deletingOnFailure<Result>(under prefix: BlobKey, _ logger: Logger, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as OutcomeUnknown {
            throw error
        } catch {
            await discard(prefix, logger)
            throw error
        }
    }

    /// Deletes the objects of a request that they were stored for in vain. Continues when the request is cancelled.
    func discard(_ prefix: BlobKey, _ logger: Logger) async {
        do {
            try await deleteAll(under: prefix)
        } catch {
            // A sweeper deletes them later, because no row refers to them.
            logger.error("objects of an upload that failed are left", metadata: ["prefix": "\(prefix)", "error": "\(error)"])
        }
    }
}
