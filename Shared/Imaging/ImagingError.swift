/// Says why a picture could not be worked on.
public struct ImagingError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for the program.
    public enum Code: Sendable, Equatable, CaseIterable {
        /// The bytes are no JPEG, PNG, WebP or HEIC file, or the format asked for cannot be written.
        case unsupported
        /// The file has more bytes, pixels or frames, or a longer side, than the limits allow; nothing was decoded.
        case tooLarge
        /// The file is damaged, or ends before its picture does.
        case corrupt
        /// The size asked for is outside ``PictureWorkshop/sides``.
        case invalidSize
        /// The caller said so.
        case cancelled
        /// The picture library itself does not work.
        case unavailable
    }

    /// What went wrong, for the program.
    public let code: Code
    /// What went wrong, for the log; nothing of the picture's content is in it.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
