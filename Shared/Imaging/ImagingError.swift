/// Says why a picture could not be decoded.
public struct ImagingError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for the program.
    public enum Code: Sendable, Equatable {
        /// The bytes are no JPEG, PNG, WebP or HEIC file.
        case unsupported
        /// The picture has more pixels, or a longer side, than the limits allow; nothing was decoded.
        case tooLarge
        /// The file is damaged, or ends before its picture does.
        case corrupt
        /// The decoder itself does not work.
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
