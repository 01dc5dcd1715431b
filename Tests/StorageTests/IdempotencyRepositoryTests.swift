import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

struct IdempotencyRepositoryTests {
    private static let lease = Duration.seconds(60)

    /// Returns the keys, and the scope of a user's request.
    private func makeKeys() async throws -> (IdempotencyRepository, IdempotencyScope) {
        (IdempotencyRepository(client), IdempotencyScope(userID: try await client.user(), route: "POST /x", key: "k"))
    }

    private func begin(_ keys: IdempotencyRepository, _ scope: IdempotencyScope) async throws -> IdempotencyLease {
        guard case .began(let lease) = try await keys.begin(scope, lease: Self.lease) else { throw NotBegun() }
        return lease
    }

    private struct NotBegun: Error {}

    private func answer(_ seed: Int = 1) -> IdempotencyAnswer {
        IdempotencyAnswer(fingerprint: hash(seed), resourceID: UUID(), status: 202, body: #"{"n":"\#(seed)"}"#)
    }

    @Test(.storage) func `an answered request stays answered`() async throws {
        let (keys, scope) = try await makeKeys()
        let lease = try await begin(keys, scope)
        let given = answer()
        #expect(try await keys.complete(lease, with: given))
        try await keys.release(lease)
        #expect(try await !keys.renew(lease, lease: Self.lease))
        #expect(try await !keys.complete(lease, with: answer(2)))
        #expect(try await keys.begin(scope, lease: Self.lease) == .answered(given))
    }

    @Test(.storage) func `a request that has begun under another id of its user is known`() async throws {
        let (keys, scope) = try await makeKeys()
        let other = IdempotencyScope(userID: UUID(), otherUserIDs: [scope.userID], route: scope.route, key: scope.key)
        let lease = try await begin(keys, scope)
        #expect(try await keys.begin(other, lease: Self.lease) == .inProgress)
        let given = answer()
        #expect(try await keys.complete(lease, with: given))
        #expect(try await keys.begin(other, lease: Self.lease) == .answered(given))
        try await client.execute("UPDATE idempotency_keys SET expires_at = now()")
        _ = try await begin(keys, other)
    }

    @Test(.storage) func `a lease under another id of the user that has ended can be taken`() async throws {
        let (keys, scope) = try await makeKeys()
        let other = IdempotencyScope(userID: UUID(), otherUserIDs: [scope.userID], route: scope.route, key: scope.key)
        let ended = try await begin(keys, scope)
        try await client.execute("UPDATE idempotency_keys SET locked_until = now()")
        let lease = try await begin(keys, other)
        #expect(try await !keys.renew(ended, lease: Self.lease))
        #expect(try await !keys.complete(ended, with: answer()))
        #expect(try await keys.complete(lease, with: answer(2)))
    }

    @Test(.storage) func `of two attempts at once under two ids of the user, not both begin`() async throws {
        let (keys, scope) = try await makeKeys()
        let ids = [scope.userID, UUID()]
        for number in 1...20 {
            let begun = try await race(2) { index in
                let scope = IdempotencyScope(
                    userID: ids[index], otherUserIDs: [ids[1 - index]], route: scope.route, key: "\(number)")
                if case .began = try await keys.begin(scope, lease: Self.lease) { return true }
                return false
            }
            #expect(begun.count { $0 } <= 1)
        }
    }

    @Test(.storage) func `a renewed lease is kept, and an ended one can be taken by another attempt`() async throws {
        let (keys, scope) = try await makeKeys()
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

    @Test(.storage) func `a response is rolled back with its resource`() async throws {
        let (keys, scope) = try await makeKeys()
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
