public import PostgresClient

/// The database schema of the whole system, as numbered migrations.
///
/// No release is out yet, so that a change edits the baseline. From the first release on, a migration that was released is never
/// edited: a change is a new migration, and every migration can be undone.
public enum HeliographSchema {
    /// All migrations, in the order in which they are applied.
    public static let migrations: [Migration] = [.baseline]

    /// The number of the last migration, which the statements of this version need.
    public static let latest = migrations.map(\.number).max() ?? 0
}
