internal import HeliographCrypto
internal import ImageProbe
internal import NIOCore

/// Checks and hashes a picture while it is streamed.
struct PictureCheck: ~Copyable {
    /// A picture that passed the check.
    struct Passed: Sendable {
        let info: ImageInfo
        /// The hash of the file; 32 bytes.
        let sha256: [UInt8]
        /// The length of the file.
        let byteCount: Int
    }

    private let field: String
    private let limits: ImageLimits
    private var probe: ImageProbe
    private var hasher = SHA256.Hasher()
    private var byteCount = 0

    /// Creates the check of a picture.
    ///
    /// - Parameter field: The picture's field in the form, named in errors.
    init(field: String, limits: ImageLimits) {
        self.field = field
        self.limits = limits
        probe = ImageProbe(limits: limits)
    }

    /// Checks the next bytes.
    ///
    /// - Throws: `invalid_image` or `payload_too_large` at the first bytes that show it.
    mutating func take(_ bytes: ByteBuffer) throws(APIError) {
        do throws(ImageProbeError) {
            try bytes.withUnsafeReadableBytes { bytes throws(ImageProbeError) in try probe.feed(RawSpan(_unsafeBytes: bytes)) }
        } catch {
            throw refusal(error)
        }
        bytes.withUnsafeReadableBytes { hasher.update($0) }
        byteCount += bytes.readableBytes
    }

    /// Ends the check after the last bytes.
    ///
    /// - Throws: `invalid_image` or `payload_too_large`, for faults that show only at the end, such as a truncated file.
    consuming func finish() throws(APIError) -> Passed {
        let info: ImageInfo
        do throws(ImageProbeError) {
            info = try probe.finish()
        } catch {
            throw refusal(error)
        }
        return Passed(info: info, sha256: hasher.finalize(), byteCount: byteCount)
    }

    private borrowing func refusal(_ error: ImageProbeError) -> APIError {
        let (code, message): (ErrorCode, String) =
            switch error.code {
            case .tooManyBytes: (.payloadTooLarge, "A picture is larger than \(limits.bytes / 1_048_576) MB")
            case .unsupportedFormat: (.invalidImage, "A picture must be a JPEG, PNG, WebP or HEIC file")
            case .animated: (.invalidImage, "A picture must have one frame")
            case .tooMuchMemory: (.invalidImage, "The picture is too large for the way it is encoded; a plain JPEG of it is taken")
            case .tooCostly: (.invalidImage, "Decoding the picture takes too long for the way it is encoded; a plain JPEG of it is taken")
            case .tooManyPixels:
                (.invalidImage, "A picture may have 12,000 pixels a side and \(limits.pixels / 1_000_000) megapixels here")
            case .truncated: (.invalidImage, "A picture is incomplete")
            case .malformed: (.invalidImage, "A picture is damaged")
            }
        return APIError(code, message, field: field, underlying: error)
    }
}
