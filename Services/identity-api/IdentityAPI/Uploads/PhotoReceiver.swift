internal import BlobStore
internal import NIOCore

/// Checks one photo and stores it while it arrives.
struct PhotoReceiver {
    let blobs: any BlobStore
    let limits: UploadLimits

    /// Reads the data of a part to its end: checks, hashes and seals each piece before it requests the next.
    ///
    /// - Parameters:
    ///   - key: the key to store the photo under; nil to check it without storing it.
    ///   - onProgress: called after each piece.
    /// - Returns: the checked photo. When this throws, nothing of the photo is stored.
    func receive(
        _ body: inout MultipartBody, as key: BlobKey?, field: String, onProgress: () async throws -> Void = {}
    ) async throws -> PictureCheck.Passed {
        guard let key else { return try await check(&body, writingTo: nil, field, onProgress) }
        var source = body
        defer { body = source }
        return try await blobs.write(key) { writer in try await check(&source, writingTo: writer, field, onProgress) }
    }

    private func check(
        _ body: inout MultipartBody, writingTo writer: (any BlobWriter)?, _ field: String, _ onProgress: () async throws -> Void
    ) async throws -> PictureCheck.Passed {
        var check = PictureCheck(field: field, limits: limits)
        while let piece = try await body.next() {
            switch piece {
            case .data(let bytes):
                try check.take(bytes)
                try await writer?.append(bytes)
                try await onProgress()
            case .partEnd:
                return try check.finish()
            case .part:
                throw APIError.internal
            }
        }
        throw APIError.internal
    }
}
