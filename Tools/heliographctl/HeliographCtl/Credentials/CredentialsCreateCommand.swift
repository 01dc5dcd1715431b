internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import PostgresClient
internal import WireFormat

/// Makes an API key, and prints it once.
struct CredentialsCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make an API key for an app's own server; it is shown once.",
        discussion: """
            The app owns the topics and notifications that are made with any of its keys: to rotate a key, make another one for the \
            same app, deploy it, and revoke the first. Only a hash of the key is stored.

              heliographctl credentials create --app photoshare --name 'production' --scope topics:write --scope notify

            Scopes: topics:write creates topics and changes their members; notify requests pushes in the lanes normal and bulk; \
            notify:urgent also in the lane urgent, in which the results of sign-ins are sent; users:erase erases users.
            """
    )

    @OptionGroup var options: OperatorOptions

    @Option(name: .long, help: "The app: 1 to 32 of a-z, 0-9 and -.")
    var app: String

    @Option(name: .long, help: "What the key is for: 1 to 80 characters.")
    var name: String

    @Option(name: .long, help: ArgumentHelp("What it allows; may be repeated.", valueName: "scope"), transform: Self.scope)
    var scope: [ServiceScope]

    @Option(name: .long, help: ArgumentHelp("The time until it ends: s, m, h or d, up to 30d; without it, never.", valueName: "time"))
    var expires: TimeSpan?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard app.wholeMatch(of: /[a-z0-9][a-z0-9-]{0,31}/) != nil else {
            throw ValidationError("--app is 1 to 32 of a-z, 0-9 and -, and does not begin with -.")
        }
        try ShownText.check("--name", name, 1...80)
        guard !scope.isEmpty else { throw ValidationError("Give at least one --scope.") }
    }

    func run() async throws {
        let key = ServiceKey.generate()
        let new = NewServiceCredential(app: app, name: name, scopes: Set(scope), lifetime: expires?.duration)
        let credential = try await options.recording(.credentialCreated, object: key.credentialID, detail: app) { transaction in
            try await ServiceCredentialRepository(transaction).insert(new, key: key)
        }
        let console = Console.current
        guard !json else {
            let record: JSONRecord = ["key": key.text, "credential": credential.json]
            return console.result(try JSONOutput.text(record))
        }
        console.result(PrintableText(key.text))
        console.note("Made \(credential.id.wireString) for \(app): \(credential.scopeNames.joined(separator: ", ")).")
        console.note("This is the only time that the key is shown: keep it where you keep passwords.")
    }

    private static func scope(_ text: String) throws -> ServiceScope {
        guard let scope = ServiceScope(rawValue: text) else {
            throw ValidationError("--scope is one of \(ServiceScope.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return scope
    }
}
