import Foundation
import Synchronization
import TestSupport

/// A process of a row.
struct RigProcess: Sendable {
    enum Role: String, Sendable {
        case producer = "produce"
        case relay
        case consumer = "consume"
    }

    let role: Role
    let guarded: GuardedProcess
    let log: String

    var pid: Int32 { guarded.pid }

    /// Whether all its threads are stopped (SIGSTOP).
    var isStopped: Bool { status("State") == "T" }

    /// Returns the first word of a line of `/proc/<pid>/status`, such as `State`; nil when the process has ended.
    func status(_ name: String) -> Substring? {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first
    }
}

extension Rig {
    /// Starts a process of `fault-worker` with the URLs of the servers, the times of the scale and further arguments.
    @discardableResult
    func launch(_ role: RigProcess.Role, _ arguments: [String] = [], redisURL: String? = nil) throws -> RigProcess {
        let number = state.withLock { $0.processes.count + 1 }
        let log = "\(folder.path)/\(number)-\(role.rawValue).log"
        let command =
            [try PackageRoot.executable("fault-worker"), role.rawValue, "--database", databases.url]
            + (databases.directURL.map { ["--direct-database", $0] } ?? []) + ["--redis", redisURL ?? self.redisURL]
            + times(of: role, unlessIn: arguments) + arguments
        let process = RigProcess(role: role, guarded: try GuardedProcess(command, log: log), log: log)
        state.withLock { $0.processes.append(process) }
        return process
    }

    private func times(of role: RigProcess.Role, unlessIn arguments: [String]) -> [String] {
        let (option, milliseconds) =
            switch role {
            case .consumer: ("--min-idle-milliseconds", scale.minIdle)
            case .relay: ("--confirm-wait-milliseconds", scale.confirmWait)
            case .producer: ("", Int?.none)
            }
        guard let milliseconds, !arguments.contains(option) else { return [] }
        return [option, "\(milliseconds)"]
    }

    /// Returns the running processes of a role, the oldest first.
    func running(_ role: RigProcess.Role) -> [RigProcess] {
        state.withLock { $0.processes }.filter { $0.role == role && $0.guarded.isRunning }
    }

    /// Starts consumers, a relay and a producer, and returns when the first effects are taken.
    func startFlow(_ scale: Scale, consumer arguments: [String] = [], consumers: Int? = nil) async throws {
        for _ in 0..<(consumers ?? scale.consumers) { try launch(.consumer, arguments) }
        try launch(.relay)
        try launch(.producer, ["--rate", "\(scale.rate)"])
        try await flow(scale.rounds * 5)
    }

    /// Returns the process of a role that has run longest; throws when no process runs.
    func oldest(_ role: RigProcess.Role) throws -> RigProcess {
        guard let process = running(role).first else {
            throw DeadlineExceeded(description: "no \(role.rawValue) runs any more")
        }
        return process
    }

    /// Stops the producers gracefully, so that the number of published pieces of work is final.
    func stopProducing() async {
        for producer in running(.producer) { await producer.guarded.stop() }
    }
}
