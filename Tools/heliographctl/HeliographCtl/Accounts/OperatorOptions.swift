internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import Storage

/// The options of commands that look at or change accounts, and are therefore recorded.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions

    @Option(
        name: .customLong("operator"),
        help: ArgumentHelp(
            "Your name in the audit log.", discussion: "Default: USER of the environment.", valueName: "name"))
    var name: String = ProcessInfo.processInfo.environment["USER"] ?? ""

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    /// The operator in the audit log.
    var actor: AuditActor { .operator(name) }

    /// Timeout of a query.
    static let queryTimeout: Duration = .seconds(10)
}

extension UUID {
    /// Parses an id on the command line.
    static func argument(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else { throw ValidationError("\(text.printable) is not a UUID.") }
        return id
    }
}
