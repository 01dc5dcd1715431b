import FaultLedger
import Foundation
import TestSupport

/// Faults between the processes and Postgres, and changes of its role. In all these rows, the first counted failure of a message makes it a
/// dead letter, so that a row in which an outage is counted loses effects.
extension FaultRow {
    /// The arguments of consumers to which an outage must not count.
    private static let unforgiving = ["--max-failures", "1"]

    static let postgresSilent = FaultRow(
        "F26", "connections to Postgres fall silent while new ones work", recoveryBar: \.databaseRecovery,
        options: RigOptions(databasePath: .proxied)
    ) { rig, scale in
        try await rig.startFlow(scale, consumer: unforgiving)
        for _ in 0..<scale.rounds {
            let fault = try await rig.markDueWork()
            try await rig.databases.proxy?.freeze()
            try await rig.flow(scale.calm)
            // A message that has two of these faults takes twice the time.
            try await rig.wait(for: "the work that was due is done") { try await rig.ledger.openCount(dueAt: fault) == 0 }
        }
    }

    static let postgresAway = FaultRow(
        "F27", "Postgres away for longer than all attempts of a message would take", options: RigOptions(databasePath: .proxied)
    ) { rig, scale in
        try await rig.startFlow(scale, consumer: unforgiving)
        await rig.databases.primary.stop()
        // The ledger is away too, so the outage has a fixed time.
        try await Task.sleep(for: scale.longDatabaseOutage)
        rig.mark()
        try await rig.databases.primary.start()
        try await rig.flow(scale.calm)
    }

    static let postgresSwitchedOver = FaultRow(
        "F28", "primary made read-only, standby promoted; both addresses in the URL", recoveryBar: \.databaseRecovery,
        options: RigOptions(databasePath: .replicated)
    ) { rig, scale in
        try await rig.startFlow(scale, consumer: unforgiving)
        try await rig.markDueWork()
        try await rig.switchDatabasesOver()
        try await rig.flow(scale.calm)
    }

    static let postgresSwitchedBehindProxy = FaultRow(
        "F29", "primary made read-only, standby promoted; a proxy leads new connections to it", recoveryBar: \.databaseRecovery,
        options: RigOptions(databasePath: .replicatedBehindProxy)
    ) { rig, scale in
        guard let standby = rig.databases.standby else { return }
        try await rig.startFlow(scale, consumer: unforgiving)
        try await rig.markDueWork()
        try await rig.switchDatabasesOver()
        try await rig.databases.proxy?.point(to: .tcp(port: standby.port))
        try await rig.flow(scale.calm)
    }

    static let poolerHung = FaultRow(
        "F30", "pooler stopped with open connections, new ones led to another", recoveryBar: \.databaseRecovery,
        options: RigOptions(databasePath: .pooled)
    ) { rig, scale in
        let poolers = rig.databases.poolers
        try await rig.startFlow(scale, consumer: unforgiving)
        try await rig.markDueWork()
        try await rig.databases.proxy?.point(to: .tcp(port: poolers[1].port))
        poolers[0].freeze()
        try await rig.flow(scale.calm)
    }

    static let schemaMissing = FaultRow("F31", "a table and a column of the schema are missing for a while") { rig, scale in
        try await rig.startFlow(scale, consumer: unforgiving)
        for (away, back) in [
            ("ALTER TABLE inbox RENAME TO inbox_away", "ALTER TABLE inbox_away RENAME TO inbox"),
            ("ALTER TABLE inbox RENAME handled_at TO handled_away", "ALTER TABLE inbox RENAME handled_away TO handled_at"),
        ] {
            try await rig.database.psql(away)
            try await rig.pileUp(scale.outage)
            rig.mark()
            try await rig.database.psql(back)
            try await rig.flow(scale.calm)
        }
    }
}
