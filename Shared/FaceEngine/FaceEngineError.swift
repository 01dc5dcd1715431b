/// A failure of the engine. A bad photo is not an error but a ``PhotoAnalysis``.
public struct FaceEngineError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable, Equatable {
        /// A model file is missing or is not the one expected.
        case badModel
        /// No process for decoding can be started, or it has no sandbox although one is required.
        case noDecoder
        /// The engine computes wrong results, or is far too slow: see the message.
        case selfCheckFailed
        /// The computation failed.
        case failed
        /// The queue of the pool is full. A later retry may succeed.
        case overloaded
        /// The pool is shut down.
        case closed
        /// The waiting task was cancelled.
        case cancelled
        /// Stored bytes are no template of this version.
        case badTemplate
    }

    /// The kind of failure.
    public let code: Code
    /// A message for the log, without any face data.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
