public import WireFormat

/// Where an eKYC session is: `received → processing → succeeded | failed | expired`.
public enum SessionState: String, Sendable, CaseIterable {
    case received, processing, succeeded, failed, expired

    /// Whether the state is final.
    public var isTerminal: Bool {
        switch self {
        case .received, .processing: false
        case .succeeded, .failed, .expired: true
        }
    }
}

/// What was decided about a session.
public enum SessionOutcome: Sendable, Equatable {
    /// The face was enrolled or recognised.
    case succeeded
    /// It was not, and why.
    case failed(SessionReason)
}

extension SessionReason {
    /// Whether the same person can try again with other photos and hope for another result.
    public var isRetryable: Bool {
        switch self {
        case .alreadyEnrolled: false
        default: true
        }
    }
}
