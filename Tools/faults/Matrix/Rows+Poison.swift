import EventBus
import FaultLedger
import Foundation
import TestSupport
import WireFormat

/// Messages that cannot be handled.
extension FaultRow {
    static let poison = FaultRow("F15", "abort() in a handler; undecodable, 10 MB, unknown type, unknown version") { rig, scale in
        // With the times of production: if a busy machine keeps a consumer from its heartbeats, that counts as a crash for all entries that
        // it holds.
        let keeper = rig.keepRunning(scale.consumers, ["--hold-milliseconds", "20"])
        defer { keeper.cancel() }
        try await rig.startFlow(scale, consumers: 0)
        try rig.launch(.producer, ["--kind", "poison", "--rate", "1", "--count", "\(scale.rounds)"])
        let unreadable = try await rig.appendUnreadable()
        try await rig.wait(for: "what cannot be read is with the dead letters") {
            try await rig.deadLetterCount() >= unreadable
        }
        // All other messages are handled while the poison is retried.
        try await rig.flow(scale.calm)
        try await rig.wait(for: "the poison is with the dead letters", within: .seconds(240)) {
            try await rig.deadLetterCount() >= unreadable + scale.rounds
        }
        try await rig.flow(scale.calm)
        try await rig.settle()
        let (dead, runs) = (try await rig.deadLetterCount(), try await rig.ledger.runs(of: .poison))
        rig.check("nothing else is given up", dead == unreadable + scale.rounds, "\(dead) dead letters")
        // There are fewer runs when a process died while it held two of them.
        rig.check(
            "a poison ends three processes at most", runs <= 3 * scale.rounds, "\(runs) crashes by \(scale.rounds) messages")
    }
}

extension Rig {
    /// The most processes that the supervisor starts: a poison that never becomes a dead letter must not restart them without end.
    private static let maxRestarts = 100

    /// Starts consumers, and another one whenever one has ended, as a supervisor does, until the task is cancelled.
    func keepRunning(_ count: Int, _ arguments: [String]) -> Task<Void, any Error> {
        Task {
            for _ in 0..<Self.maxRestarts {
                try await wait(for: "a consumer ends", within: .seconds(3600)) { running(.consumer).count < count }
                try Task.checkCancellation()
                try launch(.consumer, arguments)
            }
        }
    }

    /// Appends entries that no consumer can read, as a foreign or a newer program might, and returns their number.
    func appendUnreadable() async throws -> Int {
        let sound = try Envelope(FaultWork(id: UUIDv7.generate(), kind: .single)).encoded()
        func other(_ type: EventType, version: Int) throws -> OutgoingEntry {
            let envelope = try EncodedEnvelope(
                id: UUIDv7.generate(), type: type, version: version, key: sound.key, occurredAt: sound.occurredAt, body: sound.body)
            return OutgoingEntry(stream: Self.workStream, envelope: envelope)
        }
        let body = EncodedEnvelope.Field.body.name
        let large = sound.streamFields.map { $0.name == body ? ($0.name, [UInt8](repeating: 0x20, count: 10 << 20)) : $0 }
        let entries = [
            OutgoingEntry(stream: Self.workStream, fields: [("nonsense", [0xFF, 0x00, 0xFE])]),
            OutgoingEntry(stream: Self.workStream, fields: large),
            try other(EventType(rawValue: "fault.unheard-of"), version: 1),
            try other(FaultWork.type, version: 99),
        ]
        for result in try await transport.append(entries) { _ = try result.get() }
        return entries.count
    }
}
