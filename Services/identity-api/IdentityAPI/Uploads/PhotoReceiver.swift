internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import NIOCore
internal import Storage

/// Stores one photo while it arrives, if it is one.
struct PhotoReceiver {
    let blobs: any BlobStore
    let limits: UploadLimits

    /// Reads the data of a part to its end, checking, hashing and sealing each piece before the next is asked for.
    ///
    /// - Returns: the photo as stored. When this throws, nothing of it is left.
    func receive(
        _ body: inout MultipartBody, as key: BlobKey, pose: SessionPhoto.Pose, field: String
    ) async throws -> SessionPhoto {
        var source = body
        defer { body = source }
        let passed = try await blobs.write(key) { writer in
            var check = PictureCheck(field: field, limits: limits)
            pieces: while let piece = try await source.next() {
                switch piece {
                case .data(let bytes):
                    try check.take(bytes)
                    try await writer.append(bytes)
                case .partEnd:
                    break pieces
                case .part:
                    throw APIError.internal
                }
            }
            return try check.finish()
        }
        return SessionPhoto(key: key.name, pose: pose, sha256: Hex.encode(passed.sha256))
    }
}
