/// Says why the engine could not do its work. A bad photo is not an error: that is a ``PhotoAnalysis``.
public struct FaceEngineError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, for the program.
    public enum Code: Sendable, Equatable {
        /// A model file is missing or is not the one expected.
        case badModel
        /// The engine does not compute what it should, or far too slowly: see the message.
        case selfCheckFailed
        /// The computation failed.
        case failed
        /// More work is waiting than the pool takes. Worth trying again later.
        case overloaded
        /// The pool is shut down.
        case closed
        /// The task that waited was cancelled.
        case cancelled
        /// Stored bytes are no template of this version.
        case badTemplate
    }

    /// What went wrong, for the program.
    public let code: Code
    /// What went wrong, for the log; nothing of a face is in it.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
