internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import ImageProbe
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
        let hash = try await blobs.write(key) { writer in
            var probe = ImageProbe(limits: ImageLimits(bytes: limits.pictureBytes))
            var hasher = SHA256.Hasher()
            pieces: while let piece = try await source.next() {
                switch piece {
                case .data(let bytes):
                    try refusing(field) { () throws(ImageProbeError) in
                        try bytes.withUnsafeReadableBytes { bytes throws(ImageProbeError) in
                            try probe.feed(RawSpan(_unsafeBytes: bytes))
                        }
                    }
                    bytes.withUnsafeReadableBytes { hasher.update($0) }
                    try await writer.append(bytes)
                case .partEnd:
                    break pieces
                case .part:
                    throw APIError.internal
                }
            }
            let finished = probe
            try refusing(field) { () throws(ImageProbeError) in _ = try finished.finish() }
            return hasher.finalize()
        }
        return SessionPhoto(key: key.name, pose: pose, sha256: Hex.encode(hash))
    }

    private func refusing(_ field: String, _ check: () throws(ImageProbeError) -> Void) throws(APIError) {
        do throws(ImageProbeError) {
            try check()
        } catch {
            let (code, message): (ErrorCode, String) =
                switch error.code {
                case .tooManyBytes: (.payloadTooLarge, "A picture is larger than \(limits.pictureBytes / 1_048_576) MB")
                case .unsupportedFormat: (.invalidImage, "A picture must be a JPEG, PNG, WebP or HEIC file")
                case .animated: (.invalidImage, "A picture must have one frame")
                case .tooManyPixels: (.invalidImage, "A picture may have 12,000 pixels a side and 40 megapixels")
                case .truncated: (.invalidImage, "A picture is incomplete")
                case .malformed: (.invalidImage, "A picture is damaged")
                }
            throw APIError(code, message, field: field, underlying: error)
        }
    }
}
