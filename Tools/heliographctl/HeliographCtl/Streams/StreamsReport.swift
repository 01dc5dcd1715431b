internal import EventBus
internal import FoundationEssentials

/// The output of `streams`: a snapshot as a table or as JSON.
struct StreamsReport {
    let snapshot: BusSnapshot

    func lines(_ style: TextStyle, width: Int? = nil) -> [String] {
        var table = Table([
            .init("STREAM"), .init("GROUP", omissionRank: 3), .init("LENGTH", .right, omissionRank: 2), .init("UNDELIVERED", .right),
            .init("PENDING", .right), .init("OLDEST", .right), .init("CONSUMERS", .right, omissionRank: 1),
            .init("RETRY", .right), .init("DEAD", .right),
        ])
        for row in snapshot.rows {
            let status = row.status
            guard let group = row.group else {
                table.add([.init(row.stream), .nothing, .count(status.length)] + Array(repeating: .nothing, count: 6))
                continue
            }
            table.add([
                .init(row.stream), .init(group), .count(status.length), .count(status.undelivered), .count(status.pending),
                .age(row.oldestAge), .consumers(of: row), .count(status.retrying, .warning), .count(status.dead, .alarm),
            ])
        }
        return table.lines(style, width: width) + ["", snapshot.outboxLine(style)]
    }
}

extension BusSnapshot {
    /// The outbox in one line.
    func outboxLine(_ style: TextStyle) -> String {
        guard outbox.waiting + outbox.unconfirmed > 0 else { return "Outbox: nothing pending." }
        func part(_ number: Int, _ what: String, _ age: Duration?) -> String {
            let since = age.map { ", the oldest for \(HumanUnits.age($0))" } ?? ""
            return style.apply(Thresholds.age(age), to: "\(number) \(what)\(since)")
        }
        return "Outbox: " + part(outbox.waiting, "waiting for the relay", outbox.oldestWaitingAge) + "; "
            + part(outbox.unconfirmed, "published and not handled yet", outbox.oldestUnconfirmedAge) + "."
    }
}

extension StreamsReport: Encodable {
    private struct Document: Encodable {
        let takenAt: Date
        let streams: [Stream]
        let outbox: Outbox
    }

    private struct Stream: Encodable {
        let stream: String
        let group: String?
        let length: Int
        let appended: Int
        let undelivered: Int
        let undeliveredOldestSeconds: Double?
        let pending: Int
        let pendingOldestSeconds: Double?
        let retrying: Int
        let dead: Int
        let deadOldestSeconds: Double?
        let consumers: [Consumer]
    }

    private struct Consumer: Encodable {
        let name: String
        let pending: Int
        let idleSeconds: Double
    }

    private struct Outbox: Encodable {
        let waiting: Int
        let waitingOldestSeconds: Double?
        let unconfirmed: Int
        let unconfirmedOldestSeconds: Double?
    }

    func encode(to encoder: any Encoder) throws {
        let streams = snapshot.rows.map { row in
            let status = row.status
            return Stream(
                stream: row.stream, group: row.group, length: status.length, appended: status.appended,
                undelivered: status.undelivered, undeliveredOldestSeconds: status.oldestUndeliveredAge?.seconds,
                pending: status.pending, pendingOldestSeconds: status.oldestPendingAge?.seconds,
                retrying: status.retrying, dead: status.dead, deadOldestSeconds: status.oldestDeadAge?.seconds,
                consumers: status.consumers.map {
                    Consumer(name: $0.name, pending: $0.pending, idleSeconds: $0.idle.seconds)
                })
        }
        let backlog = snapshot.outbox
        let outbox = Outbox(
            waiting: backlog.waiting, waitingOldestSeconds: backlog.oldestWaitingAge?.seconds, unconfirmed: backlog.unconfirmed,
            unconfirmedOldestSeconds: backlog.oldestUnconfirmedAge?.seconds)
        try Document(takenAt: snapshot.takenAt, streams: streams, outbox: outbox).encode(to: encoder)
    }
}
