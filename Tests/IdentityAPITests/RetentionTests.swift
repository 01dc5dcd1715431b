import Accounts
import BlobStore
import Foundation
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// A store in which the objects under some keys cannot be deleted.
private struct StubbornBlobStore: BlobStore {
    let store: any BlobStore
    let stuck: Set<BlobKey>

    func write<Result: Sendable>(
        _ key: BlobKey, as access: BlobAccess, _ body: (any BlobWriter) async throws -> Result
    ) async throws -> Result {
        try await store.write(key, as: access, body)
    }

    func read(_ key: BlobKey, kind: BlobKind, limit: Int) async throws(BlobStoreError) -> [UInt8] {
        try await store.read(key, kind: kind, limit: limit)
    }

    func openMedia(_ key: BlobKey, limit: Int) async throws(BlobStoreError) -> any BlobReader {
        try await store.openMedia(key, limit: limit)
    }

    func link(to key: BlobKey, expires: Duration) -> String? { store.link(to: key, expires: expires) }

    func delete(_ keys: [BlobKey]) async throws(BlobStoreError) { try await store.delete(keys) }

    func deleteAll(under prefix: BlobKey) async throws(BlobStoreError) {
        // Throws an error of the store, whose type only the store can create.
        if stuck.contains(prefix) { _ = try BlobKey("no/../key") }
        try await store.deleteAll(under: prefix)
    }

    func deleteStale(under prefix: BlobKey, olderThan age: Duration) async throws(BlobStoreError) -> Int {
        try await store.deleteStale(under: prefix, olderThan: age)
    }
}

@Suite struct RetentionTests {
    @Test(.api) func `photos that cannot be deleted stop neither later photos nor other retention steps`() async throws {
        let stuck = try await api.start()
        let other = try await api.start()
        for (session, minutes) in [(stuck, 10), (other, 5)] {
            try await api.decide(session.id, .failed(.noMatch))
            try await api.postgres.execute(
                "UPDATE sessions SET completed_at = now() - interval '1 minute' * \(minutes)::bigint WHERE id = \(session.id)")
        }
        let customer = try await api.customer()
        try await api.postgres.execute(
            "UPDATE access_tokens SET expires_at = now(), refresh_expires_at = now() WHERE user_id = \(customer.userID)")
        let blobs = StubbornBlobStore(
            store: try api.context.blobStore(.faces), stuck: [BlobFolder.sessions.prefix(of: stuck.id)])
        let sweeper = IdentityAPI.sweeper(
            postgres: api.context.postgres, photos: blobs, pseudonyms: SessionPseudonyms(sessionKey: try api.context.settings.sessionKey()),
            interval: .seconds(3_600), logger: api.context.logger)
        await sweeper.sweep()
        #expect(Set(api.storedFiles().map { $0.split(separator: "/")[1] }) == [Substring(stuck.id.wireString)])
        #expect(try await api.count("access_tokens") == 0)
        let leftovers = try await SessionRepository(api.postgres).leftoverPhotos(gracePeriod: .zero, limit: 10)
        #expect(leftovers.map(\.sessionID) == [stuck.id])
    }
}
