/// The failure of an operation on a picture.
public struct ImagingError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable, Equatable, CaseIterable {
        /// The file is not JPEG, PNG, WebP or HEIC, or the requested format cannot be written.
        case unsupported
        /// The file has more bytes, pixels or frames, or a longer side, than the limits allow; nothing was decoded.
        case tooLarge
        /// The file is damaged or truncated.
        case corrupt
        /// The picture in the file has fewer pixels than the caller needs.
        case tooSmall
        /// The requested size is outside ``ImagePipeline/sides``.
        case invalidSize
        /// The caller has cancelled the work.
        case cancelled
        /// The picture library itself does not work.
        case unavailable
    }

    /// The kind of failure.
    public let code: Code
    /// A message for the log, without any content of the picture.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
