internal import ArgumentParser
internal import CommandLineSupport
internal import PostgresClient
internal import Schema

/// The migrations of this version, for the migrate commands.
enum Migrations {
    /// The number of the newest migration.
    static var latest: Int { HeliographSchema.migrations.last?.number ?? 0 }

    /// Timeout of a step: a day, because it may rewrite a large table.
    static let stepTimeout: Duration = .seconds(24 * 60 * 60)

    /// Refuses a number that is not a migration of this version.
    static func check(number: Int, from lowest: Int) throws {
        guard (lowest...latest).contains(number) else {
            throw ValidationError("--to is \(lowest) to \(latest).")
        }
    }

    /// The number and name, such as `0007 deliveries`, padded to a common width.
    static func label(number: Int, name: String) -> String {
        let digits = String(number)
        let width = HeliographSchema.migrations.map(\.name.count).max() ?? 0
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + " " + name
            + String(repeating: " ", count: max(0, width - name.count))
    }
}

extension Migration {
    /// The migration in a line of output.
    var label: String { Migrations.label(number: number, name: name) }
}

extension MigrationStatus {
    /// The migration in a line of output.
    var label: String { Migrations.label(number: number, name: name) }
}

/// The time since `start` in whole milliseconds, with the unit.
func elapsed(since start: ContinuousClock.Instant) -> String {
    let duration = ContinuousClock.now - start
    return "\(duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000) ms"
}
