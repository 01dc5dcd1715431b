internal import ArgumentParser
internal import Foundation
internal import Storage

/// The option that names the operator in the audit log.
struct AuditOptions: ParsableArguments {
    @Option(
        name: .customLong("operator"),
        help: ArgumentHelp("Your name, for the audit log.", discussion: "Default: USER of the environment.", valueName: "name"))
    var name: String?

    /// The operator, as the audit log records it.
    var actor: AuditActor { .operator(name ?? ProcessInfo.processInfo.environment["USER"] ?? "") }
}
