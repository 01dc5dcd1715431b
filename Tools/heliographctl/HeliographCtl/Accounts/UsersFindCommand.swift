internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import ServiceDefaults
internal import WireFormat

/// Finds the account of an e-mail or of a Firebase user.
struct UsersFindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find an account by its e-mail, its Firebase user or its id.",
        discussion: """
            E-mails and Firebase users are looked up by keyed hashes, so LOOKUP_KEYS is read from the environment, and for Firebase users \
            FIREBASE_AUTH_PROJECT_ID. The e-mail itself is not printed. Arguments show in the list of processes.

              heliographctl users find --email ada@example.org
              heliographctl users find --email ada@example.org --json | jq -r .id
              heliographctl users find --firebase-uid 5Qm4ZtXv0kYg3rB1n8hJd2cWLpA2
            """
    )

    /// The identifier by which an account is found.
    private enum Criterion {
        case id(UUID)
        case email(lookups: [[UInt8]])
        case identity(issuer: String, lookups: [[UInt8]])

        /// The word for it in the audit log.
        var detail: String {
            switch self {
            case .id: "by_id"
            case .email: "by_email"
            case .identity: "by_firebase_uid"
            }
        }
    }

    @OptionGroup var options: OperatorOptions

    @Option(name: .long, help: ArgumentHelp("The e-mail of the account.", valueName: "address"))
    var email: String?

    @Option(name: .customLong("firebase-uid"), help: ArgumentHelp("The id of the account's user in Firebase.", valueName: "uid"))
    var firebaseUID: String?

    @Option(name: .long, help: ArgumentHelp("The id of the account.", valueName: "uuid"), transform: UUID.argument)
    var id: UUID?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard [email != nil, firebaseUID != nil, id != nil].count(where: \.self) == 1 else { throw Self.noCriterion }
        if let email, EmailAddress(email) == nil { throw ValidationError("--email is not an e-mail address.") }
        if let firebaseUID, !FederatedSubject.isSubject(firebaseUID) {
            throw ValidationError("--firebase-uid has 1 to \(FederatedSubject.maxSubjectLength) characters.")
        }
    }

    func run() async throws {
        let criterion = try await criterion()
        let found = try await options.database.withDatabase { client in
            try await client.withTransaction { transaction in
                let account = try await AccountReport.account(
                    try await Self.userID(by: criterion, in: transaction), in: UserRepository(transaction))
                try await AuditRepository(transaction).append(
                    AuditEntry(.accountShown, by: options.actor, on: account.id, detail: criterion.detail))
                return account
            }
        }
        try Console.current.show(AccountReport(account: found), asJSON: json)
    }

    private static let noCriterion = ValidationError("Say one of --email, --firebase-uid and --id.")

    private func criterion() async throws -> Criterion {
        if let address = email.flatMap({ EmailAddress($0) }) {
            return .email(lookups: try await address.installationLookups(hint: "--id"))
        }
        if let firebaseUID {
            let settings = try await Settings.withKeys()
            let project = try settings.installationFirebaseProject(hint: "--id")
            let subject = FederatedSubject(firebaseUID, of: FederatedSubject.firebaseIssuer(ofProject: project))
            let lookups = subject.lookups(under: try settings.installationLookupKeys(hint: "--id"))
            return .identity(issuer: subject.issuer, lookups: lookups)
        }
        guard let id else { throw Self.noCriterion }
        return .id(id)
    }

    private static func userID(by criterion: Criterion, in transaction: PostgresTransaction) async throws -> UUID? {
        switch criterion {
        case .id(let id): id
        case .email(let lookups): try await UserRepository(transaction).find(emailLookups: lookups)?.id
        case .identity(let issuer, let lookups):
            try await FederatedIdentityRepository(transaction).find(issuer: issuer, subjectLookups: lookups, installationKey: nil)?.userID
        }
    }
}
