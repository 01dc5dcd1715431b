/// The scheduling priority of a decoder's process. A decoder cannot be interrupted: on a busy machine its priority decides who waits.
public enum DecoderPriority: Sendable {
    /// The priority of the worker itself.
    case ordinary
    /// Below all other processes of the worker and, outside of containers, of the machine: for pictures that others need not wait for.
    case background

    /// The nice value, which is added to the worker's: 10 leaves a tenth of a processor that others want (`sched(7)`).
    public var niceness: Int32 {
        switch self {
        case .ordinary: 0
        case .background: 10
        }
    }

    /// The time that a picture may take, as a multiple of that of an ordinary one.
    var patienceFactor: Int {
        switch self {
        case .ordinary: 1
        case .background: 3
        }
    }
}
