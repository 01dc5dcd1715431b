import Foundation
import TestSupport

/// The processor time and the calls that one process needs for its work, from a first reading to a second.
struct ProcessCost {
    /// Seconds of processor time in the process and in the kernel on its behalf.
    var user = 0.0
    var system = 0.0
    /// Calls of the kernel that read or write; waiting for events is not among them.
    var calls = 0.0

    /// The whole processor time, in seconds.
    var total: Double { user + system }

    /// Reads the cost so far of this process.
    static func ofThisProcess() -> ProcessCost {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return ProcessCost(user: seconds(usage.ru_utime), system: seconds(usage.ru_stime), calls: calls(of: getpid()))
    }

    /// Reads the cost so far of a server, which measures itself to the microsecond.
    static func of(_ server: RedisServer) async throws -> ProcessCost {
        var values: [Substring: Double] = [:]
        for line in try await server.cli("INFO", "cpu").split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":")
            if parts.count == 2 { values[parts[0]] = Double(parts[1]) }
        }
        guard let user = values["used_cpu_user"], let system = values["used_cpu_sys"] else {
            throw DeadlineExceeded(description: "the server does not tell its processor time")
        }
        return ProcessCost(user: user, system: system, calls: calls(of: server.pid))
    }

    static func - (left: ProcessCost, right: ProcessCost) -> ProcessCost {
        ProcessCost(user: left.user - right.user, system: left.system - right.system, calls: left.calls - right.calls)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static func calls(of pid: pid_t) -> Double {
        let lines = (try? String(contentsOfFile: "/proc/\(pid)/io", encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.filter { $0.hasPrefix("syscr:") || $0.hasPrefix("syscw:") }
            .compactMap { Double($0.split(separator: " ").last ?? "") }.reduce(0, +)
    }
}
