import EventBus
import FaultLedger
import Foundation
import RedisClient
import TestSupport

/// Unusual loads.
extension FaultRow {
    static let backlog = FaultRow("F22", "start with a long backlog, memory flat") { rig, scale in
        let stream = Rig.workStream
        try rig.launch(.relay)
        try rig.launch(.producer, ["--rate", "0", "--batch", "1000", "--count", "\(scale.backlog / 1000)", "--kind", "single"])
        try await rig.wait(for: "the stream has the backlog", within: .seconds(600)) {
            try await rig.appendedCount(stream) >= scale.backlog
        }
        let consumers = [try rig.launch(.consumer, ["--batches"]), try rig.launch(.consumer, ["--batches"])]
        // Counted from zero, because the consumers have already handled an unknown part of the backlog.
        try await rig.wait(for: "a tenth has taken effect", within: .seconds(300)) {
            try await rig.ledger.effectCount() >= scale.backlog / 10
        }
        let early = consumers.map { rig.residentMebibytes($0, "VmRSS") }.reduce(0, max)
        try await rig.wait(for: "nine tenths have taken effect", within: .seconds(900)) {
            try await rig.ledger.effectCount() >= scale.backlog * 9 / 10
        }
        let peak = consumers.map { rig.residentMebibytes($0, "VmHWM") }.reduce(0, max)
        rig.check("memory is flat", peak < early + 32, "\(Int(early)) MiB after a tenth, at most \(Int(peak)) MiB")
    }

    static let zombieGroup = FaultRow("F23", "a group that never reads keeps its messages") { rig, scale in
        let stream = Rig.workStream
        let key = rig.transport.key(of: stream)
        _ = try await rig.redisClient.send(RedisCommand("XGROUP", "CREATE", key, "zombie", "0", "MKSTREAM"))
        try await rig.startFlow(scale)
        for _ in 0..<scale.rounds { try await rig.flow(scale.calm) }
        try await rig.settle()
        let (length, appended) = (try await rig.status(stream).length, try await rig.appendedCount(stream))
        rig.check("nothing it was not given is trimmed", length == appended, "\(length) of \(appended) entries are there")
        _ = try await rig.redisClient.send(RedisCommand("XGROUP", "DESTROY", key, "zombie"))
        try await rig.wait(for: "the stream is trimmed once the group is gone") { try await rig.status(stream).length <= 1 }
    }
}
