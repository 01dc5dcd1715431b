internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import WireFormat

/// Resolves a pair of accounts with the same face.
struct FaceDuplicatesResolveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Let both accounts of a pair stay as they are: twins, or one person with two accounts who may have them.",
        discussion: """
            The pair is not listed or refused again. To end an account instead, erase it: its pairs go with it.

              heliographctl faces duplicates resolve 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11
            """
    )

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The id of the pair.", transform: UUID.argument)
    var id: UUID

    func run() async throws {
        try await options.recording(.faceDuplicateResolved, object: id) { transaction in
            guard try await FaceDuplicateRepository(transaction).resolve(id: id) else {
                Console.current.note("There is no open pair \(id.wireString).")
                throw ExitCode.nothingFound
            }
        }
        Console.current.result("resolved \(id.wireString)")
    }
}
