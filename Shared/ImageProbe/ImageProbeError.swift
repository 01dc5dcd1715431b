/// The reason for which a picture is refused.
///
/// The message is for the log: it names formats, sizes and limits, never bytes of the picture.
public struct ImageProbeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of fault.
    public enum Code: String, Sendable, Equatable, CaseIterable {
        /// The file has none of the formats of ``ImageFormat``.
        case unsupportedFormat
        /// The file has more than one frame.
        case animated
        /// A side or the area exceeds a limit of ``ImageLimits``.
        case tooManyPixels
        /// The picture cannot be decoded row by row, and as a whole it exceeds a limit of ``ImageLimits``.
        case tooMuchMemory
        /// Decoding it takes longer than a limit of ``ImageLimits`` allows, for the way it is encoded.
        case tooCostly
        /// The file exceeds a limit of ``ImageLimits``.
        case tooManyBytes
        /// The file ends before the picture is complete.
        case truncated
        /// The structure of the format is broken.
        case malformed
    }

    /// The kind of fault.
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

    /// Two errors are equal when their codes and messages are.
    public static func == (left: ImageProbeError, right: ImageProbeError) -> Bool {
        left.code == right.code && left.message == right.message
    }

    /// The code and the message, for logs.
    public var description: String { "\(code.rawValue): \(message)" }
}
