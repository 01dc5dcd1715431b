internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import ServiceDefaults

/// Prints the receipt of an erasure, or verifies one.
struct UsersReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt",
        abstract: "Print the signed receipt of a completed erasure, or verify one.",
        discussion: """
            A receipt is a JSON Web Signature. --verify needs LOOKUP_KEYS, from which its key derives; others verify it with the key at \
            /.well-known/jwks.json of the API.

              heliographctl users receipt --id 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11 > receipt.jws
              heliographctl users receipt --verify "$(cat receipt.jws)"
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Option(name: .long, help: ArgumentHelp("Print the receipt of this erasure.", valueName: "uuid"), transform: UUID.argument)
    var id: UUID?

    @Option(name: .long, help: ArgumentHelp("Verify this receipt, and print what it states.", valueName: "receipt"))
    var verify: String?

    mutating func validate() throws {
        guard (id == nil) != (verify == nil) else { throw ValidationError("Say either --id or --verify.") }
    }

    func run() async throws {
        if let verify { return try await show(verify) }
        guard let id else { return }
        let status = try await database.withDatabase { try await ErasureRepository($0).status(id: id, tokenHash: nil) }
        guard let receipt = status?.receipt else {
            Console.current.note("There is no such erasure, or it is not completed.")
            throw ExitCode.nothingFound
        }
        Console.current.result(PrintableText(receipt))
    }

    private func show(_ receipt: String) async throws {
        let settings = try await Settings.withKeys()
        let key = try ErasureReceiptKey(lookupKeys: try settings.installationLookupKeys())
        guard let claims = key.verifiedClaims(of: receipt), let lines = JSONOutput.pretty(Array(claims.utf8)) else {
            Console.current.note("This is no receipt of this installation, or it was changed.")
            throw ExitCode.failure
        }
        lines.forEach(Console.current.result)
    }
}
