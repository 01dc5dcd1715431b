import EventBus
import FaultLedger
import Foundation
import PostgresClient
import TestSupport

/// Faults while messages are dead letters.
extension FaultRow {
    static let deadLettersWiped = FaultRow(
        "F25", "consumers killed while they give messages up, FLUSHALL with the dead letters, redriven by two at once"
    ) { rig, scale in
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds {
            let refusing = try await rig.refuseEverything(scale)
            // Some of their dead letters are stored and not acknowledged yet.
            for consumer in refusing { await consumer.guarded.stop(signal: SIGKILL) }
            try await rig.waitForSessionsToEnd(of: refusing)
            let dead = try await rig.deadLetterCount()
            try await rig.atOnce(rig.masters()) { try await $0.cli("FLUSHALL") }
            let left = try await rig.deadLetterCount()
            rig.check("every dead letter outlives Redis", left == dead && dead >= scale.outage, "\(left) of \(dead)")
            for _ in 0..<scale.consumers { try rig.launch(.consumer) }
            rig.mark()
            async let first = rig.redriveAll()
            async let second = rig.redriveAll()
            let redriven = try await first + second
            rig.check("each dead letter was redriven once", redriven == dead, "\(redriven) redriven of \(dead)")
            try await rig.flow(scale.calm)
        }
        let left = try await rig.deadLetterCount()
        rig.check("no message is given up again", left == 0, "\(left) dead letters")
    }
}

extension Rig {
    /// Replaces the consumers by such as give up each message at its first failure, waits until they have given up as many as are published
    /// in an outage, and returns them.
    func refuseEverything(_ scale: Scale) async throws -> [RigProcess] {
        let sound = running(.consumer)
        let arguments = ["--behaviour", "refusing", "--hold-milliseconds", "0", "--max-failures", "1"]
        for _ in 0..<scale.consumers { try launch(.consumer, arguments) }
        for consumer in sound { await consumer.guarded.stop() }
        try await wait(for: "messages are given up") { try await deadLetterCount() >= scale.outage }
        return running(.consumer)
    }

    /// Returns the number of the group's dead letters.
    func deadLetterCount() async throws -> Int {
        let backlogs = try await DeadLetterRepository(client).backlogs(of: Self.streams.map(Self.group))
        return backlogs.values.reduce(0) { $0 + $1.count }
    }

    /// Has all dead letters published to the group again, and returns the number of those that were redriven.
    func redriveAll() async throws -> Int {
        var count = 0
        for group in Self.streams.map(Self.group) {
            let ids = try await DeadLetterRepository(client).page(of: group, limit: 10_000).map(\.id)
            count += try await client.withTransaction { try await DeadLetterRepository($0).redrive(ids, of: group).ids.count }
        }
        return count
    }
}
