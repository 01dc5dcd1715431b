/// Why a picture is not taken.
///
/// The message is for the log: it names formats, sizes and limits, never bytes of the picture.
public struct ImageProbeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of fault a caller may want to tell apart.
    public enum Code: String, Sendable, Equatable, CaseIterable {
        /// The bytes are none of the formats of ``ImageFormat``.
        case unsupportedFormat
        /// More than one frame.
        case animated
        /// A side or the area passes a limit of ``ImageLimits``.
        case tooManyPixels
        /// It cannot be decoded row by row, and all at once it passes a limit of ``ImageLimits``.
        case tooMuchMemory
        /// The bytes pass a limit of ``ImageLimits``.
        case tooManyBytes
        /// The picture ends before its format says it does.
        case truncated
        /// The structure of the format is broken.
        case malformed
    }

    /// What kind of fault it is.
    public let code: Code
    /// One sentence for the log.
    public let message: String
    /// The error that caused this one, if there was one.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        self.underlying = nil
    }

    /// Two errors are equal when they are of one kind and say the same.
    public static func == (left: ImageProbeError, right: ImageProbeError) -> Bool {
        left.code == right.code && left.message == right.message
    }

    /// The code and the message, for logs.
    public var description: String { "\(code.rawValue): \(message)" }
}
