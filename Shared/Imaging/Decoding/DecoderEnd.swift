#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The end of a decoder's process.
package enum DecoderEnd: Equatable, Sendable, CustomStringConvertible {
    case exited(status: Int32)
    case signalled(Int32)

    /// Decodes a status of `waitpid`.
    init(waitStatus status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status: (status >> 8) & 0xFF) : .signalled(signal)
    }

    /// Whether the process made a system call that its sandbox forbids.
    package var isViolation: Bool { self == .signalled(SIGSYS) }

    /// Whether the process was ended from outside, and not by its own action.
    var isFromOutside: Bool { [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains { self == .signalled($0) } }

    package var description: String {
        switch self {
        case .exited(let status): "exit status \(status)"
        case .signalled(let signal): "signal \(signal)"
        }
    }
}

/// The failure of a decoder to answer, as opposed to its refusal of a picture.
package enum DecoderFailure: Error, Equatable, Sendable {
    /// It cannot be started; the reason is for the log.
    case notStarted(String)
    /// It ended by itself.
    case ended(DecoderEnd)
    /// It did not answer in time, and was killed.
    case late
    /// Its answer fits no picture of the request, and it was killed.
    case badAnswer(String)
    /// The caller cancelled, and it was killed.
    case cancelled

    /// A kind of failure, by its word in metrics.
    package enum Kind: String, CaseIterable, Sendable {
        case violation, crash, late, killed
        case badAnswer = "bad_answer"
        case notStarted = "not_started"
    }

    /// The kind of failure; nil when the caller cancelled.
    package var kind: Kind? {
        switch self {
        case .notStarted: .notStarted
        case .ended(let end): end.isViolation ? .violation : end.isFromOutside ? .killed : .crash
        case .late: .late
        case .badAnswer: .badAnswer
        case .cancelled: nil
        }
    }

    /// The error of the picture that was being decoded.
    ///
    /// A picture that crashes a decoder is refused for good. If the decoder could not be started or was ended from outside, a later
    /// attempt may succeed.
    var pictureError: ImagingError {
        switch self {
        case .notStarted(let reason): ImagingError(.unavailable, "no decoder: \(reason)")
        case .ended(let end) where end.isFromOutside: ImagingError(.unavailable, "the decoder was ended from outside: \(end)")
        case .ended(let end): ImagingError(.corrupt, "the decoder ended: \(end)")
        case .late: ImagingError(.corrupt, "the decoder took too long")
        case .badAnswer(let reason): ImagingError(.corrupt, "the decoder answered wrongly: \(reason)")
        case .cancelled: ImagingError(.cancelled, "the caller has cancelled")
        }
    }
}
