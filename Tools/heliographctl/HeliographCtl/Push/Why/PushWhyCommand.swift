internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Push
internal import ServiceDefaults
internal import WireFormat

/// Says why a push was not sent or not shown.
struct PushWhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Say why a push was not sent or not shown, and what to do.",
        discussion: """
            The argument is the e-mail or id of a user, whose latest pushes are explained, with those that wait for their time; or the id \
            of an image job, a session, a message or a notification, whose push is explained for all its recipients (of a topic, for its \
            first \(PushInquiryRepository.maxMembers) members), or with --user for one person. An e-mail is looked up with LOOKUP_KEYS \
            of the environment. Each question is recorded in the audit log, because the answer may say who blocks whom, which no other \
            answer says. The codes are in docs/operations/push-why.md.

              heliographctl push why ada@example.org --since 2h
              heliographctl push why m-1 --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
              heliographctl push why 0b0e1a52-6a3c-4c8f-9a57-2f5be0c3d6aa --json | jq -r '.notifications[].findings[].sentence'
            """
    )

    @OptionGroup var acting: OperatorOptions

    @Argument(help: "An e-mail, or the id of a user, an image job, a session, a message or a notification.")
    var subject: String

    @Option(
        name: .long, help: ArgumentHelp("Only the pushes to this user.", valueName: "uuid"), transform: UUID.argument)
    var user: UUID?

    @Option(name: .long, help: ArgumentHelp("A user's pushes of this time: s, m, h or d, up to 30d.", valueName: "time"))
    var since = TimeSpan(.seconds(86_400))

    @OptionGroup var limit: LimitOptions

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard since.duration >= .seconds(1) else { throw ValidationError("--since is at least 1s.") }
        guard (1...254).contains(subject.utf8.count) else { throw ValidationError("An e-mail or an id has 1 to 254 bytes.") }
        if subject.contains("@"), EmailAddress(subject) == nil { throw ValidationError("\(subject.printable) is not an e-mail address.") }
    }

    func run() async throws {
        let lookups = try await lookups()
        let (explanation, isCut) = try await acting.database.withDatabase { client in
            let question = try await question(lookups: lookups, in: client)
            return (try await PushExplanation(question, in: client), question.isCut)
        }
        try Console.current.show(explanation, asJSON: json)
        if isCut { limit.noteMore() }
    }

    /// Returns the lookups of an e-mail; nil for an id.
    private func lookups() async throws -> [[UInt8]]? {
        guard subject.contains("@"), let address = EmailAddress(subject) else { return nil }
        return try await address.installationLookups(hint: "the id of the user")
    }

    /// Reads the subject of the question, and records the question: for each notification of a job, session or message, or once for a user.
    private func question(lookups: [[UInt8]]?, in client: PostgresClient) async throws -> PushQuestion {
        let start = Date(timeIntervalSinceNow: -since.duration.seconds)
        var person: UUID?
        if let lookups {
            person = try await UserRepository(client).find(emailLookups: lookups)?.id
        } else if let id = UUID(wireString: subject.lowercased()) {
            person = try await UserRepository(client).find(id: id)?.id
        }
        if let person {
            guard user == nil else {
                Console.current.note("--user is for the id of a thing; \(subject.printable) is a user.")
                throw ExitCode.validationFailure
            }
            try await AuditRepository(client).append(AuditEntry(.pushesExplained, by: acting.actor, on: person))
            return try await .user(person, since: start, limit: limit.count, in: client)
        }
        guard lookups == nil, var question = try await PushQuestion.thing(subject, in: client) else {
            Console.current.note(
                "No user, image job, session, message or notification is \(subject.printable). Image jobs and sessions are kept for a "
                    + "day, what was pushed about them, and messages, for 30 days; a message is deleted with its conversation.")
            throw ExitCode.nothingFound
        }
        question.userID = user
        let objects: [UUID?] = question.notifications.isEmpty ? [nil] : question.notifications.map(\.id)
        for object in objects {
            try await AuditRepository(client).append(AuditEntry(.pushesExplained, by: acting.actor, on: user, object: object))
        }
        return question
    }
}
