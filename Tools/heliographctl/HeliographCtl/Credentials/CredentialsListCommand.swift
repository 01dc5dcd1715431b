internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import WireFormat

/// Lists the API keys, without their secrets.
struct CredentialsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the API keys: whose they are, what they allow, and when they were last used.",
        discussion: """
              heliographctl credentials list
              heliographctl credentials list --json | jq -r '.[] | select(.status == "valid") | .id'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        try await database.withDatabase { client in
            let credentials = try await ServiceCredentialRepository(client).all()
            let console = Console.current
            guard !json else { return console.result(try JSONOutput.text(credentials.map(\.json))) }
            var table = Table(["ID", "APP", "NAME", "SCOPES", "STATUS", "LAST USED"])
            for credential in credentials {
                table.add([
                    .init(credential.id.wireString), .init(credential.app), .init(credential.name),
                    .init(credential.scopeNames.joined(separator: " ")), .init(credential.status),
                    .init(credential.lastUsedAt.map(HumanUnits.timestamp) ?? "never"),
                ])
            }
            table.lines(console.style).forEach(console.result)
        }
    }
}
