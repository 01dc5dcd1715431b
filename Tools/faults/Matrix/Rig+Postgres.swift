import FaultLedger
import Foundation
import TestSupport

extension Rig {
    /// Returns the number of deadlocks that the server has detected.
    func deadlocks() async throws -> Int {
        Int(try await database.psql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")) ?? 0
    }

    /// Returns the number of open messages of the outbox, which may still be published or republished.
    func owed() async throws -> Int {
        Int(try await database.psql("SELECT count(*) FROM outbox WHERE state IN ('waiting', 'published')")) ?? .max
    }

    /// Returns a memory figure of a process in MiB, by its name in `/proc/<pid>/status`, such as `VmRSS` or `VmHWM` (the peak).
    func residentMebibytes(_ process: RigProcess, _ name: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Double($0.split(separator: " ").dropFirst().first ?? "") }.map { $0 / 1024 } ?? .infinity
    }
}
