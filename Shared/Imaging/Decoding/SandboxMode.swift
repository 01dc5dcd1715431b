/// The sandbox in which a decoder runs.
public enum SandboxMode: String, Sendable, CaseIterable {
    /// No picture is decoded without it.
    case required
    /// It is used where the system has it.
    case available
    /// The decoder is a process of its own, with limits of memory and descriptors, but without a filter of system calls.
    case off
}

/// The sandbox that a decoder reports once it is ready for pictures.
package enum SandboxState: Equatable, Sendable {
    case entered
    case off
    /// The system has no sandbox; with the reason, for the log.
    case unsupported(reason: String)

    /// Returns whether a decoder in this state may decode pictures in a mode.
    func satisfies(_ mode: SandboxMode) -> Bool {
        switch mode {
        case .required: self == .entered
        case .available: self != .off
        case .off: true
        }
    }
}
