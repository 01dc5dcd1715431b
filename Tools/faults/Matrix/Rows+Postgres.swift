import FaultLedger
import Foundation
import TestSupport

/// Faults of Postgres.
extension FaultRow {
    static let postgresDown = FaultRow(
        "F12", "Postgres crashed, restarted, sessions ended; 40P01 and 40001 in handlers"
    ) { rig, scale in
        try rig.launch(.consumer, ["--behaviour", "unserializable", "--hold-milliseconds", "20"])
        try await rig.startFlow(scale, consumer: ["--behaviour", "deadlocking", "--hold-milliseconds", "20"])
        try await rig.wait(for: "handlers met in a deadlock") { try await rig.deadlocks() > 0 }
        try await rig.wait(for: "a failed message was delivered again") { try await rig.ledger.balance().rerun > 0 }
        for round in 0..<scale.rounds + 2 {
            rig.mark()
            switch round % 3 {
            case 0: await rig.databases.primary.kill()
            case 1: await rig.databases.primary.stop()
            default:
                try await rig.database.psql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                        + "AND backend_type = 'client backend'")
            }
            if round % 3 < 2 {
                // The ledger is unavailable too, so the outage has a fixed time.
                try await Task.sleep(for: scale.databaseOutage)
                try await rig.databases.primary.start()
            }
            try await rig.flow(scale.calm)
        }
    }
}
