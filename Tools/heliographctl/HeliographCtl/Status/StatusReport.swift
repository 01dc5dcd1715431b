internal import BuildVersion
internal import CommandLineSupport
internal import FoundationEssentials

/// The output of `status`: a line for each service and server, then the faults; or JSON.
struct StatusReport: Report {
    let status: InstallationStatus

    func lines(_ style: TextStyle) -> [PrintableText] {
        var table = Table(["SERVICE", "STATE", "VERSION", .right("INSTANCES"), .right("BACKLOG"), .right("OLDEST"), .right("DEAD")])
        for service in status.services {
            let versions = Set(service.instances.compactMap(\.version)).sorted().joined(separator: ", ")
            let isWell = ["ready", "running"].contains(service.state)
            table.add([
                .init(service.name), .init(service.state, isWell ? .none : .alarm), versions.isEmpty ? .nothing : .init(versions),
                Self.count(service.consumers), Self.count(service.backlog), .age(service.oldestAge),
                Self.count(service.deadLetters, .alarm),
            ])
        }
        return table.lines(style) + ["", redisLine, postgresLine] + outboxLine(style)
            + ["", "Version of heliographctl: \(HeliographVersion.current)."]
            + conclusion(style)
    }

    private static func count(_ number: Int?, _ emphasis: Emphasis = .none) -> Table.Cell {
        number.map { .count($0, emphasis) } ?? .nothing
    }

    private var redisLine: PrintableText { "Redis: \(status.rows == nil ? "does not answer" : "answers")." }

    private var postgresLine: PrintableText {
        guard let database = status.database else { return "Postgres: does not answer." }
        let isCurrent = database.pendingMigrations + database.otherMigrations == 0
        return "Postgres: answers; the schema is \(isCurrent ? "that of this version" : "another")."
    }

    private func outboxLine(_ style: TextStyle) -> [PrintableText] { (status.database?.snapshot).map { [$0.outboxLine(style)] } ?? [] }

    private func conclusion(_ style: TextStyle) -> [PrintableText] {
        let findings = status.findings
        let isWell = !findings.contains(where: \.isProblem)
        return (isWell ? ["All is well."] : []) + findings.map { style.apply($0.emphasis, to: PrintableText($0.text)) }
    }

    func encode(to encoder: any Encoder) throws {
        let services = status.services.map { service -> JSONRecord in
            [
                "service": service.name, "state": service.state, "instances": service.instances.map(Self.json(of:)),
                "consumers": service.consumers, "backlog": service.backlog, "oldest_seconds": service.oldestAge?.seconds,
                "dead": service.deadLetters,
            ]
        }
        let findings = status.findings
        let outbox = status.database?.snapshot?.outbox
        let record: JSONRecord = [
            "taken_at": status.takenAt, "version": HeliographVersion.current, "is_well": !findings.contains(where: \.isProblem),
            "services": services, "redis": ["answers": status.rows != nil] as JSONRecord,
            "postgres": [
                "answers": status.database != nil, "pending_migrations": status.database?.pendingMigrations,
                "other_migrations": status.database?.otherMigrations,
            ] as JSONRecord,
            "outbox": [
                "waiting": outbox?.waiting, "waiting_oldest_seconds": outbox?.oldestWaitingAge?.seconds, "unconfirmed": outbox?.unconfirmed,
            ] as JSONRecord,
            "findings": findings.map(\.json),
        ]
        try record.encode(to: encoder)
    }

    private static func json(of instance: InstanceStatus) -> JSONRecord {
        ["url": instance.url, "version": instance.version, "is_ready": instance.failures.isEmpty, "failures": instance.failures]
    }
}
