internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import ServiceDefaults
internal import WireFormat

/// Erases an account, or its face.
struct UsersEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erase an account with everything that is kept of the user, or its face alone.",
        discussion: """
            The account is closed at once, and cannot be restored. The services erase the rest within minutes; `users erasures` says how \
            far they are. The receipt token is shown once: give it to the user, who reads the receipt with it.

              heliographctl users erase --user 7f1b5c9e-0d1f-4a7e-9a53-0f6f4a2f1c11 --yes
            """
    )

    @OptionGroup var account: AccountOptions

    @Flag(name: .long, help: "Only the face: the account and its sign-ins stay.")
    var face = false

    @Flag(name: .long, help: "Really do it.")
    var yes = false

    private func what(_ user: UUID) -> String { "the \(face ? "face" : "account") of \(user.wireString)" }

    func run() async throws {
        guard yes else { return try await showAccount() }
        let (erasure, removed, user) = try await account.reading { client, user in
            let erasure = ErasureRequest(face ? .face : .account, of: user, for: .operator)
            return (erasure, try await client.withTransaction { try await erasure.begin(by: account.acting.actor, in: $0) }, user)
        }
        guard let removed else {
            Console.current.note("There is no such account any more, or its erasure is under way: see `heliographctl users erasures`.")
            throw ExitCode.nothingFound
        }
        if account.json {
            let record: JSONRecord = [
                "erasure_id": erasure.id.wireString, "receipt_token": erasure.receiptToken, "installs_removed": removed,
            ]
            Console.current.result(try JSONOutput.text(record))
        } else {
            Console.current.result("erasing \(what(user)), removed \(HumanUnits.count(removed, "installation"))")
            Console.current.result("erasure       \(erasure.id.wireString)")
            Console.current.result("receipt token \(erasure.receiptToken)")
            Console.current.note("This is the only time that the token is shown: it is the bearer of GET /v1/users/me/erasure/{id}.")
        }
    }

    private func showAccount() async throws {
        let (found, user) = try await account.reading { client, user in
            (try await AccountReport.account(user, in: UserRepository(client)), user)
        }
        Console.current.result(
            "would erase \(what(user)): \(HumanUnits.count(found.signIns, "sign-in")), \(HumanUnits.count(found.installs, "installation"))")
        Console.current.note("Nothing was changed: add --yes to do it.")
    }
}
