public import WireFormat

/// The state of an eKYC session: `received → processing → succeeded | failed | expired`.
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

/// The outcome of a session.
public enum SessionOutcome: Sendable, Equatable {
    /// The face was enrolled or recognised.
    case succeeded
    /// The face was neither enrolled nor recognised, for this reason.
    case failed(SessionReason)
}

extension SessionReason {
    /// Whether another attempt with other photos may have another result, where a lock does not forbid it: ``SignInBudget``.
    public var isRetryable: Bool {
        switch self {
        case .alreadyEnrolled, .faceInUse: false
        default: true
        }
    }
}
