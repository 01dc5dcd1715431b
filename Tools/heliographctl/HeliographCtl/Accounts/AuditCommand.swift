internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import WireFormat

/// Prints the audit log.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Print the audit log: who did what to which account.",
        discussion: """
            The newest rows, oldest first. The log has ids and fixed words, never an e-mail: --email is looked up with LOOKUP_KEYS.

              heliographctl audit --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11 --since 7d
              heliographctl audit --email ada@example.org
              heliographctl audit --request 0b0e1a52-6a3c-4c8f-9a57-2f5be0c3d6aa --json
            """
    )

    /// The maximum number of rows.
    private static let maxLimit = 100_000

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: ArgumentHelp("Only what happened to this account.", valueName: "uuid"), transform: UUID.argument)
    var user: UUID?

    @Option(
        name: .long, help: ArgumentHelp("Only what happened to the account with this e-mail.", valueName: "address"),
        transform: EmailAddress.argument)
    var email: EmailAddress?

    @Option(name: .long, help: ArgumentHelp("Only what this request did, by its X-Request-ID.", valueName: "id"))
    var request: String?

    @Option(
        name: .long, help: ArgumentHelp("Only what is younger: 90s, 30m, 24h, 7d; up to 731d.", valueName: "time"),
        transform: Self.age)
    var since: Duration?

    @Option(name: .long, help: ArgumentHelp("The maximum number of rows.", valueName: "count"))
    var limit = 1_000

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard [user != nil, email != nil, request != nil].count(where: \.self) <= 1 else {
            throw ValidationError("Say one of --user, --email and --request.")
        }
        guard 1...Self.maxLimit ~= limit else { throw ValidationError("--limit is 1 to \(Self.maxLimit).") }
    }

    func run() async throws {
        let lookups = try await email?.installationLookups(hint: "--user")
        let begin = since.map { Date().addingTimeInterval(-($0 / .seconds(1))) } ?? .distantPast
        let found = try await database.withDatabase(queryTimeout: .seconds(60)) { client in
            // One more row says whether there are more.
            try await AuditRepository(client).find(try await selection(lookups, in: client), since: begin, limit: limit + 1)
        }
        try Console.current.show(AuditReport(records: found.suffix(limit)), asJSON: json)
        if found.count > limit { LimitOptions.noteMore(than: limit, upTo: Self.maxLimit) }
    }

    private func selection(_ lookups: [[UInt8]]?, in client: PostgresClient) async throws -> AuditRepository.Selection {
        if let lookups { return .user(try await AccountOptions.account(nil, or: lookups, in: client)) }
        return user.map { .user($0) } ?? request.map { .request($0) } ?? .all
    }

    /// Parses the age of the oldest row: no row is older than the log keeps.
    static func age(_ text: String) throws -> Duration {
        guard let age = HumanUnits.duration(text) else {
            throw ValidationError("\(text.printable) is no time: 90s, 30m, 24h and 7d are.")
        }
        guard age <= AuditRepository.retention else {
            throw ValidationError("--since is up to \(HumanUnits.age(AuditRepository.retention)): the audit log is kept for 24 months.")
        }
        return age
    }
}

/// Rows of the audit log as text or JSON.
struct AuditReport: Report {
    let records: [AuditRecord]

    func encode(to encoder: any Encoder) throws {
        try records.map { record -> JSONRecord in
            [
                "id": record.id, "at": record.at, "actor_kind": record.actorKind, "actor_id": record.actorID, "action": record.action,
                "result": record.result, "subject_id": record.subjectID?.wireString, "object_id": record.objectID?.wireString,
                "request_id": record.requestID, "detail": record.detail, "address_key": record.addressKey.map { Hex.encode($0) },
            ]
        }.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        var table = Table(["AT", "ACTOR", "ACTION", "RESULT", "DETAIL", "ACCOUNT", "OBJECT", "REQUEST"])
        for record in records {
            table.add([
                .init(HumanUnits.timestamp(record.at)), .init([record.actorKind, record.actorID].compactMap { $0 }.joined(separator: " ")),
                .init(record.action), .init(record.result, record.result == "succeeded" ? .none : .warning),
                record.detail.map { .init($0) } ?? .nothing, record.subjectID.map { .init($0.wireString) } ?? .nothing,
                record.objectID.map { .init($0.wireString) } ?? .nothing, record.requestID.map { .init($0) } ?? .nothing,
            ])
        }
        return table.lines(style)
    }
}
