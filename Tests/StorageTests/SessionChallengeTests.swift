import Accounts
import Foundation
import PostgresClient
import TestSupport
import Testing
import WireFormat

/// Challenges of sessions, their use, and the liveness that they show.
struct SessionChallengeTests {
    private static let photos = ["a", "b", "c"].map { photo($0, .any) }

    private static func photo(_ key: String, _ pose: SessionPhoto.Pose) -> SessionPhoto {
        SessionPhoto(key: key, pose: pose, sha256: String(repeating: "ab", count: 32))
    }

    private func insert(
        _ event: EkycEvent, _ challenge: [LivenessPose]?, _ photos: [SessionPhoto] = Self.photos
    ) async throws -> Session {
        var new = NewSession.make(event, photos: photos)
        new.challenge = challenge
        let inserted = try await sessions.insert(new)
        #expect(try await sessions.find(id: new.id) == inserted)
        return inserted
    }

    @Test(.storage) func `all photos of a sign-in answer its challenge, in their order`() async throws {
        let session = try await insert(.signIn, [.right, .nearer, .left])
        #expect(session.challenge == [.right, .nearer, .left] && session.photos == Self.photos)
        #expect(session.liveness == .notPerformed)
        let other = try await insert(.signIn, nil)
        #expect(other.challenge == nil)
    }

    @Test(.storage) func `the photos of a sign-up that answer its challenge are those beside its nine`() async throws {
        let answer = ["x", "y", "z"].map { Self.photo($0, .challenge) }
        let nine = [SessionPhoto.Pose.left, .right, .front].flatMap { pose in (1...3).map { Self.photo("\(pose)-\($0)", pose) } }
        let session = try await insert(.signUp, [.front, .left, .nearer], nine + answer)
        #expect(session.photos.filter { $0.pose == .challenge } == answer && session.photos.count == 12)
    }

    @Test(.storage, arguments: [[.left, .right], [.nearer, .left, .right], [.left, .right, .front, .nearer]] as [[LivenessPose]])
    func `the database refuses a challenge that is not one`(_ poses: [LivenessPose]) async throws {
        await #expect(throws: PostgresError.self) { try await insert(.signIn, poses) }
    }

    @Test(.storage) func `liveness is written with the decision`() async throws {
        let live = try await insert(.signIn, [.left, .right, .front]).id
        #expect(try await sessions.complete(id: live, outcome: .succeeded, liveness: .passed))
        #expect(try await sessions.find(id: live)?.liveness == .passed)
        let other = try await insert(.signIn, [.left, .right, .front]).id
        #expect(try await sessions.complete(id: other, outcome: .failed(.noFace)))
        #expect(try await sessions.find(id: other)?.liveness == .notPerformed)
        let failed = try await insert(.signIn, [.left, .right, .front]).id
        #expect(try await sessions.complete(id: failed, outcome: .failed(.livenessFailed)))
        #expect(try await sessions.find(id: failed)?.liveness == .failed, "the reason says so")
    }

    @Test(.storage) func `no session is undecided or successful with a failed check`() async throws {
        let id = try await insert(.signIn, [.left, .right, .front]).id
        for liveness in ["passed", "failed", "unknown"] {
            await #expect(throws: PostgresError.self) {
                try await client.execute("UPDATE sessions SET liveness = \(liveness) WHERE id = \(id)")
            }
        }
        await #expect(throws: PostgresError.self) { try await sessions.complete(id: id, outcome: .succeeded, liveness: .failed) }
        #expect(try await sessions.find(id: id)?.state == .received)
    }

    @Test(.storage) func `one of several concurrent uses of a challenge takes effect`() async throws {
        let id = UUID()
        let uses = try await race(8) { _ in
            try await UsedChallengeRepository(client).use(id: id, expiresAt: Date(timeIntervalSinceNow: 60))
        }
        #expect(uses.count { $0 } == 1)
    }

    @Test(.storage) func `a use that is rolled back leaves the challenge unused`() async throws {
        struct Stopped: Error {}
        let id = UUID()
        await #expect(throws: Stopped.self) {
            try await client.withTransaction { transaction in
                #expect(try await UsedChallengeRepository(transaction).use(id: id, expiresAt: Date(timeIntervalSinceNow: 60)))
                throw Stopped()
            }
        }
        #expect(try await UsedChallengeRepository(client).use(id: id, expiresAt: Date(timeIntervalSinceNow: 60)))
    }

    @Test(.storage) func `only the ids of expired challenges are deleted`() async throws {
        let (old, new) = (UUID(), UUID())
        let used = UsedChallengeRepository(client)
        _ = try await used.use(id: old, expiresAt: Date(timeIntervalSinceNow: -1))
        _ = try await used.use(id: new, expiresAt: Date(timeIntervalSinceNow: 60))
        #expect(try await used.deleteExpired(limit: 10) == 1)
        #expect(try await client.query("SELECT id FROM used_challenges").column("id", as: UUID.self) == [new])
    }
}
