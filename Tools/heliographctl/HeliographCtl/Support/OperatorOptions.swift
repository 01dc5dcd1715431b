internal import Accounts
internal import ArgumentParser
internal import Foundation
internal import PostgresClient

/// The options of commands that are recorded in the audit log with their operator.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions

    @Option(
        name: .customLong("operator"),
        help: ArgumentHelp(
            "Your name in the audit log.", discussion: "Default: USER of the environment; without it the user id of the process, as uid:0.",
            valueName: "name"))
    var name: String?

    /// The most characters of a name in the audit log.
    private static let maxNameLength = 64

    mutating func validate() throws { try ShownText.check("--operator", name, 0...Self.maxNameLength) }

    /// The operator in the audit log. A container has no USER: the user id is printed as `uid:…`, because a bare number would be unclear.
    var actor: AuditActor {
        let names = [name, ProcessInfo.processInfo.environment["USER"]]
        return .operator(names.compactMap(\.self).first { !$0.isEmpty } ?? "uid:\(getuid())")
    }

    /// Runs `body` in a transaction that records the action in the audit log, unless `body` throws an error.
    func recording<Value>(
        _ action: AuditAction, on user: UUID? = nil, object: UUID? = nil, detail: String? = nil,
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        try await database.withDatabase { client in
            try await client.withTransaction { transaction in
                try await AuditRepository(transaction).append(AuditEntry(action, by: actor, on: user, object: object, detail: detail))
                return try await body(transaction)
            }
        }
    }
}
