import FaultLedger
import PostgresClient
import TestSupport

extension Rig {
    /// Returns the number of deadlocks that the server has detected.
    func deadlocks() async throws -> Int {
        Int(try await database.psql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")) ?? 0
    }

    /// Has the standby take the place of the primary, and the rig's own client follow it.
    func switchDatabasesOver() async throws {
        try await databases.switchOver()
        // The client only reads, which the old primary still allows.
        _ = try? await client.checkWritable()
    }

    /// Returns the number of open messages of the outbox, which may still be published or republished.
    func owed() async throws -> Int {
        try await client.query("SELECT count(*) AS count FROM outbox WHERE state IN ('waiting', 'published')").required().decode("count")
    }

    /// Returns a memory figure of a process in MiB, by its name in `/proc/<pid>/status`, such as `VmRSS` or `VmHWM` (the peak).
    func residentMebibytes(_ process: RigProcess, _ name: String) -> Double {
        process.status(name).flatMap { Double($0) }.map { $0 / 1024 } ?? .infinity
    }
}
