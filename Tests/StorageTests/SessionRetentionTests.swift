import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import Accounts

struct SessionRetentionTests {
    @Test(.storage) func `only overdue sessions expire, and only once`() async throws {
        var overdue: Set<UUID> = []
        for _ in 0..<20 { overdue.insert(try await sessions.insert(.make(processingTime: .seconds(-1))).id) }
        let open = try await sessions.insert(.make()).id
        let decided = try await sessions.insert(.make(processingTime: .seconds(-1))).id
        #expect(try await sessions.complete(id: decided, outcome: .succeeded))

        let expired = try await race(6) { _ in try await sessions.expireOverdue(limit: 5) }.flatMap { $0 }
        let rest = try await sessions.expireOverdue(limit: 100)
        #expect((expired + rest).map(\.id).sorted() == overdue.sorted())
        #expect((expired + rest).allSatisfy { $0.state == .expired && $0.reason == .timeout && $0.retryable == true })
        #expect(try await sessions.find(id: open)?.state == .received)
        #expect(try await sessions.find(id: decided)?.state == .succeeded)
    }

    @Test(.storage) func `an overdue session cannot be processed`() async throws {
        let id = try await sessions.insert(.make(processingTime: .seconds(-1))).id
        #expect(try await sessions.beginProcessing(id: id) == nil)
    }

    @Test(.storage) func `photos of an expired session are found at once`() async throws {
        let photo = SessionPhoto(key: "ekyc/a/0", pose: .front, sha256: "00")
        let id = try await sessions.insert(.make(processingTime: .seconds(-1), photos: [photo])).id
        #expect(try await sessions.expireOverdue(limit: 10).map(\.id) == [id])
        #expect(try await sessions.leftoverPhotos(gracePeriod: .seconds(60), limit: 10).map(\.sessionID) == [id])
    }

    @Test(.storage) func `photos that a crashed worker left are found, and the record stays until they are deleted`() async throws {
        let photo = SessionPhoto(key: "ekyc/a/0", pose: .front, sha256: "00")
        let id = try await sessions.insert(.make(photos: [photo])).id
        let open = try await sessions.insert(.make(photos: [photo])).id
        #expect(try await sessions.complete(id: id, outcome: .succeeded))
        #expect(try await sessions.leftoverPhotos(gracePeriod: .seconds(60), limit: 10).isEmpty)
        let leftovers = try await sessions.leftoverPhotos(gracePeriod: .zero, limit: 10)
        #expect(leftovers.map(\.sessionID) == [id])
        #expect(leftovers.map(\.photos) == [[photo]])

        try await client.execute("UPDATE sessions SET expires_at = now() - interval '1 second'")
        #expect(try await sessions.deleteExpired(limit: 10) == 0)
        try await sessions.photosDeleted([id])
        #expect(try await sessions.deleteExpired(limit: 10) == 1)
        #expect(try await sessions.find(ids: [id, open]).map(\.id) == [open])
    }

    @Test(.storage) func `an expired record is not returned, though it still exists`() async throws {
        var new = NewSession.make()
        new.lifetime = .seconds(-1)
        let id = try await sessions.insert(new).id
        #expect(try await sessions.find(id: id) == nil)
        #expect(try await sessions.find(ids: [id]).count == 1)
    }

    @Test(.storage) func `a redeemed session releases its installation once its push is settled`() async throws {
        let new = NewSession.make()
        try await sessions.insert(new)
        #expect(try await sessions.complete(id: new.id, outcome: .succeeded))
        let push = NewNotification.make(dedupeKey: SignInPush.dedupeKey(about: new.id), recipient: .session(new.id))
        _ = try await notifications.insert(push)
        #expect(try await sessions.releaseInstalls(ofSettled: [new.id]).isEmpty, "it can still be redeemed")
        #expect(try await sessions.redeem(id: new.id, tokenHash: new.tokenHash) != nil)
        #expect(try await sessions.releaseInstall(ofRedeemed: new.id).isEmpty, "its push is on its way")
        _ = try await notifications.markSkipped([push.id], reason: .expired)
        #expect(try await sessions.releaseInstall(ofRedeemed: new.id) == [new.installID])
    }

    @Test(.storage) func `only failed sessions release their installations`() async throws {
        let (failed, succeeded, open) = (NewSession.make(), NewSession.make(token: 2), NewSession.make(token: 3))
        for new in [failed, succeeded, open] { try await sessions.insert(new) }
        try await client.withTransaction { transaction in
            _ = try await SessionRepository(transaction).complete(id: failed.id, outcome: .failed(.noMatch))
            _ = try await SessionRepository(transaction).complete(id: succeeded.id, outcome: .succeeded)
        }
        let ids = [failed.id, succeeded.id, open.id]
        #expect(try await sessions.releaseInstalls(ofSettled: ids) == [failed.installID])
        #expect(try await sessions.releaseInstalls(ofSettled: ids).isEmpty)
        #expect(try await sessions.releaseInstalls(userID: open.userID) == [open.installID])
        #expect(try await sessions.find(id: succeeded.id)?.installID == succeeded.installID)
    }
}
