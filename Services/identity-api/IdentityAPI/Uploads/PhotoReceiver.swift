internal import BlobStore
internal import NIOCore

/// Stores one photo while it arrives, if it is one.
struct PhotoReceiver {
    let blobs: any BlobStore
    let limits: UploadLimits

    /// Reads the data of a part to its end, checking, hashing and sealing each piece before the next is asked for.
    ///
    /// - Parameters:
    ///   - key: where the photo goes; nil for one that is only looked at.
    ///   - onProgress: called after each piece.
    /// - Returns: what the photo is. When this throws, nothing of it is left.
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
