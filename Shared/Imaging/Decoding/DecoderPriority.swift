#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The scheduling priority of a decoder's process. A decoder cannot be interrupted: on a busy machine its priority decides who waits.
public enum DecoderPriority: Sendable {
    /// The priority of the worker itself.
    case ordinary
    /// Below all other processes of the worker and, outside of containers, of the machine: for pictures that others need not wait for.
    case background

    /// The nice value, which is added to the worker's: 10 leaves a tenth of a processor that others want (`sched(7)`).
    var niceness: Int32 {
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

extension DecoderPriority {
    /// Lowers the priority of this thread to that of the decoders of this priority, for work that others need not wait for either.
    public func lowerThread() {
        #if canImport(Darwin)
            if niceness > 0 { pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0) }
        #else
            // Linux has a nice value for each thread, and 0 means this one (`setpriority(2)`). To lower it needs no privilege.
            if niceness > 0 { _ = setpriority(priorityOfProcess, 0, getpriority(priorityOfProcess, 0) + niceness) }
        #endif
    }
}

/// The word by which `setpriority` takes the id of a process.
#if canImport(Glibc)
    let priorityOfProcess = __priority_which_t(PRIO_PROCESS.rawValue)
#else
    let priorityOfProcess = PRIO_PROCESS
#endif
