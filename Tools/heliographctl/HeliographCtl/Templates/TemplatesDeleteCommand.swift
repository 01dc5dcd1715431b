internal import Accounts
internal import ArgumentParser
internal import CommandLineSupport
internal import Pictures
internal import PostgresClient

/// Deletes a template.
struct TemplatesDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a template that no job has.",
        discussion: """
            Jobs are kept for 24 hours, and name their template: one that was ordered lately is not deleted, but can be disabled at once, \
            and deleted a day later. Without --yes nothing is changed.

              heliographctl templates set noir --disable
              heliographctl templates delete noir --yes
            """
    )

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The template's id.")
    var id: String

    @Flag(name: .long, help: "Really do it.")
    var yes = false

    func run() async throws {
        let console = Console.current
        guard yes else {
            let template = try await options.database.withDatabase { try await ImageTemplateRepository($0).find(id: id) }
            guard let template else { throw noSuchTemplate() }
            console.result("would delete \(template.id), \(template.state.rawValue): \(template.name)")
            return console.note("Nothing was changed: add --yes to do it.")
        }
        do {
            try await options.recording(.templateDeleted, detail: id) { transaction in
                guard try await ImageTemplateRepository(transaction).delete(id: id) else { throw noSuchTemplate() }
            }
        } catch let error as PostgresError where error.isForeignKeyViolation {
            throw isInUse()
        }
        console.result("deleted \(id)")
    }

    private func noSuchTemplate() -> ExitCode {
        Console.current.note("There is no template \(id): `heliographctl templates list` shows them.")
        return .nothingFound
    }

    private func isInUse() -> ExitCode {
        Console.current.note(
            "Jobs of the last 24 hours have \(id); nothing was deleted. Disable it by `templates set \(id) --disable`, and delete it "
                + "tomorrow."
        )
        return .failure
    }
}
