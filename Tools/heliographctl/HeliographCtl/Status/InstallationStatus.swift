internal import CommandLineSupport
internal import EventBus
internal import FoundationEssentials
internal import PostgresClient
internal import Schema
internal import WireFormat

/// The state of the database.
struct DatabaseStatus: Sendable {
    /// The rows of the streams with their dead letters, and the outbox; nil without the whole schema.
    let snapshot: BusSnapshot?
    /// The migrations of this version that are not applied.
    let pendingMigrations: Int
    /// The applied migrations that this version does not have, or has with another text.
    let otherMigrations: Int

    /// Queries the database.
    ///
    /// - Parameter rows: The rows of Redis; nil when it does not answer, for rows that have dead letters only.
    init(_ postgres: PostgresClient, rows: [BusSnapshot.Row]?) async throws {
        let migrations = try await MigrationRunner(client: postgres, migrations: HeliographSchema.migrations).status()
        pendingMigrations = migrations.count { $0.state == .pending }
        otherMigrations = migrations.count { $0.state == .changed || $0.state == .unknown }
        guard pendingMigrations == 0 else {
            snapshot = nil
            return
        }
        var snapshot = BusSnapshot(takenAt: Date(), rows: rows ?? BusSnapshot.emptyRows, outbox: .init())
        try await snapshot.read(postgres)
        self.snapshot = snapshot
    }
}

/// The state of the whole installation at one time.
struct InstallationStatus: Sendable {
    /// The services, in the order of the data flow.
    static let services = UserErased.groups

    let takenAt: Date
    /// The probes of the instances with a known address.
    let instances: [InstanceStatus]
    /// The streams and groups in Redis; nil when it does not answer.
    var rows: [BusSnapshot.Row]?
    /// Nil when the database does not answer.
    var database: DatabaseStatus?

    init(takenAt: Date, instances: [InstanceStatus]) {
        self.takenAt = takenAt
        self.instances = instances
    }

    /// The state of one service.
    struct ServiceStatus {
        let name: String
        let instances: [InstanceStatus]
        /// The processes that read from Redis; nil when Redis does not answer.
        let consumers: Int?
        let backlog: Int?
        let oldestAge: Duration?
        /// Nil when the database does not answer, or lacks a part of the schema.
        let deadLetters: Int?

        var failures: [String] { instances.flatMap(\.failures) }

        /// One word for the table.
        var state: String {
            if !failures.isEmpty { return "not ready" }
            if !instances.isEmpty { return "ready" }
            return consumers.map { $0 > 0 ? "running" : "not running" } ?? "unknown"
        }
    }

    /// The services, each with its instances and groups.
    var services: [ServiceStatus] {
        let counted = database?.snapshot?.rows
        return Self.services.map { name in
            let own = rows?.filter { $0.group == name }
            return ServiceStatus(
                name: name, instances: instances.filter { $0.service == name }, consumers: own.map(Self.processes),
                backlog: own?.reduce(0) { $0 + $1.backlog }, oldestAge: own?.compactMap(\.oldestAge).max(),
                deadLetters: counted?.filter { $0.group == name }.reduce(0) { $0 + $1.deadLetters.count })
        }
    }

    /// Counts the processes that live: a consumer is named service:host:pid:random, one for each stream that a process reads.
    private static func processes(of rows: [BusSnapshot.Row]) -> Int {
        Set(rows.flatMap(\.status.livingConsumers).map { $0.name.split(separator: ":").dropLast().joined(separator: ":") }).count
    }

    /// The faults and warnings; faults of the servers first.
    var findings: [Finding] {
        var found = serverFindings
        for instance in instances where instance.service == nil {
            found.append(
                Finding(
                    isProblem: true,
                    text:
                        "\(instance.url): \(instance.failures.first ?? "no build_info"). Start the service, or see in its log why it ended."
                ))
        }
        var missing: Set<String> = []
        for service in services {
            found += service.failures.map { Finding(isProblem: true, text: "\(service.name) is not ready: \($0)") }
            if service.instances.isEmpty, service.consumers == 0 {
                missing.insert(service.name)
                found.append(
                    Finding(isProblem: true, text: "\(service.name) does not run: start it, or see in its log why it ended."))
            }
        }
        let versions = Set(instances.compactMap(\.version)).sorted()
        if versions.count > 1 {
            found.append(
                Finding(
                    isProblem: false, text: "The instances have different versions: \(versions.joined(separator: ", ")). End the rollout."))
        }
        // Without Redis the consumers are unknown.
        let silent = rows == nil ? Set(Self.services) : missing
        let snapshot = database?.snapshot ?? rows.map { BusSnapshot(takenAt: takenAt, rows: $0, outbox: .init()) }
        return found + (snapshot?.findings(exceptUnreadOf: silent) ?? [])
    }

    private var serverFindings: [Finding] {
        var found: [Finding] = []
        if rows == nil {
            found.append(Finding(isProblem: true, text: "Redis does not answer: see above. Events wait in Postgres meanwhile."))
        }
        guard let database else {
            return found + [Finding(isProblem: true, text: "Postgres does not answer: see above. Nothing works without it.")]
        }
        if database.pendingMigrations > 0 {
            let count = HumanUnits.count(database.pendingMigrations, "migration")
            found.append(Finding(isProblem: true, text: "\(count) pending: `heliographctl migrate up` applies what this version needs."))
        }
        if database.otherMigrations > 0 {
            found.append(
                Finding(
                    isProblem: true,
                    text: "\(HumanUnits.count(database.otherMigrations, "migration")) of another version: use its heliographctl."))
        }
        return found
    }
}
