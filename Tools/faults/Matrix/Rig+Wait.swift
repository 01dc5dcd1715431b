import FaultLedger
import Foundation
import PostgresClient
import Synchronization
import TestSupport

extension Rig {
    /// The time between two checks of a condition; not shorter, because the ledger is in the database that the row loads.
    private static let pollInterval: Duration = .milliseconds(50)

    /// Waits until a condition is true. A condition that throws, because its server is down, counts as false.
    ///
    /// - Throws: `DeadlineExceeded` when it is not true within the limit.
    func wait(
        for what: String, within limit: Duration = .seconds(120), until condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while true {
            if (try? await condition()) == true { return }
            guard ContinuousClock.now < deadline else {
                throw DeadlineExceeded(description: "not within \(limit): \(what)")
            }
            try await Task.sleep(for: Self.pollInterval)
        }
    }

    /// Waits until `count` more effects are taken, which shows that the system works.
    func flow(_ count: Int, within limit: Duration = .seconds(120)) async throws {
        var before: Int?
        try await wait(for: "\(count) more effects", within: limit) {
            let now = try await ledger.effectCount()
            before = before ?? now
            return now >= (before ?? now) + count
        }
    }

    /// Waits until `count` more pieces of work are published, whether or not they have effects.
    func pileUp(_ count: Int) async throws {
        let before = try await ledger.publishedCount()
        try await wait(for: "\(count) more promises", within: .seconds(120)) {
            try await ledger.publishedCount() >= before + count
        }
    }

    /// Records a fault as ``mark(_:)``, at a moment at which work is due: at a low rate there are moments without any, and then a report
    /// has no time of recovery.
    ///
    /// - Returns: The moment.
    @discardableResult func markDueWork() async throws -> Date {
        var moment = Date()
        try await wait(for: "work is due") {
            moment = Date()
            return try await ledger.openCount(dueAt: moment) > 0
        }
        state.withLock { $0.moments.append(Moment(date: moment, pids: nil)) }
        return moment
    }

    /// Waits until the database has ended the sessions of processes: those that were killed may have sent a commit before.
    func waitForSessionsToEnd(of processes: [RigProcess]) async throws {
        let names = processes.map { Ledger.applicationName(pid: $0.pid) }
        try await wait(for: "the sessions of killed processes have ended") {
            try await client.query("SELECT FROM pg_stat_activity WHERE application_name = ANY(\(names))").isEmpty
        }
    }

    /// Waits until a process has at least `count` messages in work.
    func waitForWork(_ count: Int, of process: RigProcess) async throws {
        try await wait(for: "\(count) messages in work at \(process.pid)") { try await ledger.inWork(pid: process.pid) >= count }
    }

    /// Returns the last log lines of each process, for the report of a row that failed.
    func tails(lines: Int = 2) -> String {
        state.withLock { $0.processes }.map { process in
            let text = (try? String(contentsOfFile: process.log, encoding: .utf8)) ?? ""
            let tail = text.split(separator: "\n").suffix(lines).joined(separator: "\n    ")
            return "  \(process.role.rawValue) \(process.pid)\(process.guarded.isRunning ? "" : ", ended"):\n    \(tail)"
        }.joined(separator: "\n")
    }
}
