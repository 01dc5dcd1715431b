import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing

struct IdempotencyRepositoryTests {
    private static let lease = Duration.seconds(60)

    /// Runs `body` with a new database and the scope of a user's request.
    private func withKeys(_ body: (IdempotencyRepository, IdempotencyScope, PostgresClient) async throws -> Void) async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make()
            try await body(IdempotencyRepository(client), IdempotencyScope(userID: user.id, route: "POST /x", key: "k"), client)
        }
    }

    private func begin(_ keys: IdempotencyRepository, _ scope: IdempotencyScope) async throws -> IdempotencyLease {
        guard case .began(let lease) = try await keys.begin(scope, lease: Self.lease) else { throw NotBegun() }
        return lease
    }

    private struct NotBegun: Error {}

    private func answer(_ seed: Int = 1) -> IdempotencyAnswer {
        IdempotencyAnswer(fingerprint: hash(seed), resourceID: UUID(), status: 202, body: #"{"n":"\#(seed)"}"#)
    }

    @Test func `one of many concurrent calls begins, and the others find it in progress`() async throws {
        try await withKeys { keys, scope, _ in
            let results = try await race(20) { _ in try await keys.begin(scope, lease: Self.lease) }
            #expect(results.count { $0 == .inProgress } == 19)
        }
    }

    @Test func `an answered request stays answered`() async throws {
        try await withKeys { keys, scope, _ in
            let lease = try await begin(keys, scope)
            let given = answer()
            #expect(try await keys.complete(lease, with: given))
            try await keys.release(lease)
            #expect(try await !keys.renew(lease, lease: Self.lease))
            #expect(try await !keys.complete(lease, with: answer(2)))
            #expect(try await keys.begin(scope, lease: Self.lease) == .answered(given))
        }
    }

    @Test func `a renewed lease is kept, and an ended one can be taken by another attempt`() async throws {
        try await withKeys { keys, scope, client in
            let first = try await begin(keys, scope)
            try await client.execute("UPDATE idempotency_keys SET locked_until = now() - interval '1 second'")
            #expect(try await keys.renew(first, lease: Self.lease))
            #expect(try await keys.begin(scope, lease: Self.lease) == .inProgress)
            try await client.execute("UPDATE idempotency_keys SET locked_until = now() - interval '1 second'")
            let second = try await begin(keys, scope)
            #expect(try await !keys.renew(first, lease: Self.lease))
            #expect(try await !keys.complete(first, with: answer()))
            try await keys.release(first)
            #expect(try await keys.complete(second, with: answer()))
        }
    }

    @Test func `a released request can be begun again`() async throws {
        try await withKeys { keys, scope, _ in
            try await keys.release(try await begin(keys, scope))
            _ = try await begin(keys, scope)
        }
    }

    @Test func `scopes with different users, routes or keys are independent`() async throws {
        try await withKeys { keys, scope, client in
            let other = try await UserRepository(client).make(2)
            _ = try await begin(keys, scope)
            _ = try await begin(keys, IdempotencyScope(userID: other.id, route: scope.route, key: scope.key))
            _ = try await begin(keys, IdempotencyScope(userID: scope.userID, route: "POST /y", key: scope.key))
            _ = try await begin(keys, IdempotencyScope(userID: scope.userID, route: scope.route, key: "l"))
        }
    }

    @Test func `a response is rolled back with its resource`() async throws {
        try await withKeys { keys, scope, client in
            let lease = try await begin(keys, scope)
            await #expect(throws: NotBegun.self) {
                try await client.withTransaction { transaction in
                    #expect(try await IdempotencyRepository(transaction).complete(lease, with: answer()))
                    throw NotBegun()
                }
            }
            #expect(try await keys.begin(scope, lease: Self.lease) == .inProgress)
            #expect(try await keys.complete(lease, with: answer()))
        }
    }
}
