import Foundation
public import PostgresClient
public import Schema

/// Runs `body` with a migrated database whose services have roles with a prefix of their own, which the test may change: roles belong to
/// the whole server.
public func withServiceRoles(_ body: (_ database: TestDatabase, _ prefix: String) async throws -> Void) async throws {
    try await withMigratedDatabase { database in
        let prefix = "t" + UUID().uuidString.prefix(8).lowercased()
        try await withClient(of: database) { try await ServiceRoles(prefix: prefix).apply(to: $0) }
        try await body(database, prefix)
    }
}

/// Runs `body` with a client that connects as a service's role.
public func withClient(
    of database: TestDatabase, as role: ServiceRole, prefix: String = ServiceRole.defaultPrefix,
    _ body: (PostgresClient) async throws -> Void
) async throws {
    try await withClient(of: database.connecting(as: role.name(prefix: prefix)), body)
}

/// Runs `body` with a migrated database, a client of its owner, and one that connects as a service's role, for the code of that service.
public func withStorage(
    as role: ServiceRole, _ body: (_ owner: PostgresClient, _ service: PostgresClient) async throws -> Void
) async throws {
    try await withMigratedDatabase { database in
        try await withClient(of: database) { owner in
            try await withClient(of: database, as: role) { service in try await body(owner, service) }
        }
    }
}
