import Foundation

/// Returns the nice value of a process, from -20 (the first to run) to 19; that of this process for 0.
public func niceness(of pid: Int32) -> Int32 {
    getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(pid))
}
