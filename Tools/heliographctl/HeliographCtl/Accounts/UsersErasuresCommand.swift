internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import ServiceDefaults
internal import WireFormat

/// Lists erasures, or shows the numbers of one erasure.
struct UsersErasuresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erasures",
        abstract: "List erasures, those under way first, or show what one has erased.",
        discussion: """
            WAITS FOR names the services that have not reported; once all have, what is left is the final check, 30 seconds after the \
            request at the earliest. Nothing here names a user.

            A person's erasures are found by the id of the account and, until they are completed, by the e-mail, for which LOOKUP_KEYS is \
            read. A completed erasure has forgotten the e-mail: then the user's id finds it, or the receipt, whose `jti` is the \
            erasure's id (`users receipt --verify`). This is not recorded: an entry would name who was erased.

              heliographctl users erasures
              heliographctl users erasures --email ada@example.org
              heliographctl users erasures --user 0d6f8a52-7a3e-4a55-9d0e-3f1c8f0b7e21
              heliographctl users erasures --id 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(
        name: .long, help: ArgumentHelp("Only this one, with the numbers of each service.", valueName: "uuid"), transform: UUID.argument)
    var id: UUID?

    @Option(name: .long, help: ArgumentHelp("Only those of this account, or of its face.", valueName: "uuid"), transform: UUID.argument)
    var user: UUID?

    @Option(name: .long, help: ArgumentHelp("Only those under way of the account with this e-mail.", valueName: "address"))
    var email: String?

    @OptionGroup var limit: LimitOptions

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard [id != nil, user != nil, email != nil].count(where: \.self) <= 1 else {
            throw ValidationError("Say one of --id, --user and --email.")
        }
        if let email, EmailAddress(email) == nil { throw ValidationError("--email is not an e-mail address.") }
    }

    func run() async throws {
        let person = try await person()
        try await database.withDatabase { client in
            let erasures = ErasureRepository(client)
            guard let id else {
                let found = try await limit.read { try await erasures.list(of: person, limit: $0) }
                if found.isEmpty, person != nil { throw noErasure() }
                return try Console.current.show(ErasureListReport(erasures: found), asJSON: json)
            }
            guard let erasure = try await erasures.status(id: id, tokenHash: nil) else {
                Console.current.note("There is no such erasure.")
                throw ExitCode.nothingFound
            }
            try Console.current.show(ErasureDetailReport(erasure: erasure), asJSON: json)
        }
    }

    private func person() async throws -> ErasedPerson? {
        if let user { return .account(user) }
        guard let address = email.flatMap({ EmailAddress($0) }) else { return nil }
        return .email(attemptKeys: try await address.installationLookups(hint: "--user").map(AttemptKey.derive(from:)))
    }

    /// Notes that the person has no erasure, and how else to look, and returns the exit code of that.
    private func noErasure() -> ExitCode {
        Console.current.note(
            email == nil
                ? "No account with this id was erased or is being erased."
                : "No erasure of this e-mail is under way. A completed one has forgotten it: look by --user, or by the receipt's jti "
                    + "with --id."
        )
        return .nothingFound
    }
}

/// A list of erasures as text or JSON.
struct ErasureListReport: Report {
    let erasures: [ErasureStatus]

    func encode(to encoder: any Encoder) throws { try erasures.map { ErasureDetailReport(erasure: $0) }.encode(to: encoder) }

    func lines(_ style: TextStyle) -> [PrintableText] {
        var table = Table(["ERASURE", "SCOPE", "REQUESTED", "COMPLETED", .right("ERASED"), "WAITS FOR"])
        for erasure in erasures {
            var waitsFor = erasure.waitsFor.joined(separator: " ")
            if waitsFor.isEmpty, erasure.completedAt == nil { waitsFor = "the final check" }
            table.add([
                .init(erasure.id.wireString), .init(erasure.scope.rawValue), .init(HumanUnits.timestamp(erasure.requestedAt)),
                erasure.completedAt.map { .init(HumanUnits.timestamp($0)) } ?? .nothing,
                .count(erasure.reports.flatMap(\.counts.values).reduce(0, +)),
                waitsFor.isEmpty ? .nothing : .init(waitsFor, .warning),
            ])
        }
        return table.lines(style)
    }
}

/// An erasure with the reports of the services, as text or JSON.
struct ErasureDetailReport: Report {
    let erasure: ErasureStatus

    func encode(to encoder: any Encoder) throws {
        let services = erasure.reports.map { report -> JSONRecord in
            ["service": report.service, "finished_at": report.finishedAt, "erased": report.counts]
        }
        let record: JSONRecord = [
            "id": erasure.id.wireString, "scope": erasure.scope.rawValue, "requested_at": erasure.requestedAt,
            "completed_at": erasure.completedAt, "waits_for": erasure.waitsFor, "services": services, "receipt": erasure.receipt,
        ]
        try record.encode(to: encoder)
    }

    func lines(_ style: TextStyle) -> [PrintableText] {
        var table = Table(["SERVICE", "FINISHED", .right("ERASED"), "OF"])
        for report in erasure.reports {
            let finished = report.finishedAt.map { Table.Cell(HumanUnits.timestamp($0)) } ?? .nothing
            for (what, count) in report.counts.sorted(by: { $0.key < $1.key }) {
                table.add([.init(report.service), finished, .count(count), .init(what)])
            }
            if report.counts.isEmpty { table.add([.init(report.service), finished, .count(0), .nothing]) }
        }
        return table.lines(style)
    }
}

extension ErasureStatus {
    /// The services that have not reported the end of their erasure.
    var waitsFor: [String] {
        guard completedAt == nil else { return [] }
        return UserErased.groups.filter { name in !reports.contains { $0.service == name && $0.finishedAt != nil } }
    }
}
