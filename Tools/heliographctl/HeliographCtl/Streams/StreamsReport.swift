internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials

/// The output of `streams`: a snapshot as a table or as JSON.
struct StreamsReport: Report {
    let snapshot: BusSnapshot

    func lines(_ style: TextStyle) -> [PrintableText] { lines(style, width: nil) }

    func lines(_ style: TextStyle, width: Int?) -> [PrintableText] {
        var table = Table([
            "STREAM", .init("GROUP", omissionRank: 3), .right("LENGTH", omissionRank: 2), .right("UNDELIVERED"), .right("PENDING"),
            .right("OLDEST"), .right("CONSUMERS", omissionRank: 1), .right("RETRY"), .right("DEAD"),
        ])
        for row in snapshot.rows {
            let status = row.status
            guard let group = row.group else {
                table.add([.init(row.stream), .nothing, .count(status.length)] + Array(repeating: .nothing, count: 6))
                continue
            }
            table.add([
                .init(row.stream), .init(group), .count(status.length), .count(status.undelivered), .count(status.pending),
                .age(row.oldestAge), .consumers(of: row), .count(status.retrying, .warning), .count(row.deadLetters.count, .alarm),
            ])
        }
        return table.lines(style, width: width) + ["", snapshot.outboxLine(style)] + advice(style, width: width)
    }

    /// The normal values, and remedies for other values.
    private func advice(_ style: TextStyle, width: Int?) -> [PrintableText] {
        let normal = PrintableText.wrapped(BusSnapshot.normal, width: width).map { style.apply(.faint, to: $0) }
        let findings = snapshot.findings.flatMap { finding in
            PrintableText.wrapped("Not normal: \(finding.text)", width: width).map { style.apply(finding.emphasis, to: $0) }
        }
        return [""] + normal + (findings.isEmpty ? ["All of this is normal."] : findings)
    }

    func encode(to encoder: any Encoder) throws {
        let outbox = snapshot.outbox
        let record: JSONRecord = [
            "taken_at": snapshot.takenAt, "streams": snapshot.rows.map(Self.json(of:)), "findings": snapshot.findings.map(\.json),
            "outbox": [
                "waiting": outbox.waiting, "waiting_oldest_seconds": outbox.oldestWaitingAge?.seconds,
                "unconfirmed": outbox.unconfirmed, "unconfirmed_oldest_seconds": outbox.oldestUnconfirmedAge?.seconds,
            ] as JSONRecord,
        ]
        try record.encode(to: encoder)
    }

    private static func json(of row: BusSnapshot.Row) -> JSONRecord {
        let status = row.status
        let consumers = status.consumers.map { consumer -> JSONRecord in
            ["name": consumer.name, "pending": consumer.pending, "idle_seconds": consumer.idle.seconds]
        }
        return [
            "stream": row.stream, "group": row.group, "length": status.length, "appended": status.appended,
            "undelivered": status.undelivered, "undelivered_oldest_seconds": status.oldestUndeliveredAge?.seconds,
            "pending": status.pending, "pending_oldest_seconds": status.oldestPendingAge?.seconds, "retrying": status.retrying,
            "dead": row.deadLetters.count, "dead_oldest_seconds": row.deadLetters.oldestAt.map { max(0, -$0.timeIntervalSinceNow) },
            "consumers": consumers,
        ]
    }
}

extension BusSnapshot {
    /// The outbox in one line.
    func outboxLine(_ style: TextStyle) -> PrintableText {
        guard outbox.waiting + outbox.unconfirmed > 0 else { return "Outbox: nothing pending." }
        func part(_ number: Int, _ what: String, _ age: Duration?) -> PrintableText {
            let since: PrintableText = age.map { ", the oldest for \(HumanUnits.age($0))" } ?? ""
            return style.apply(Thresholds.age(age), to: "\(number) \(what)\(since)")
        }
        return "Outbox: " + part(outbox.waiting, "waiting for the relay", outbox.oldestWaitingAge) + "; "
            + part(outbox.unconfirmed, "published and not handled yet", outbox.oldestUnconfirmedAge) + "."
    }
}
