import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import Accounts

/// Tests erasures of a face, whose account goes on.
struct FaceErasureTests {
    private static let services = ["a", "b"]

    /// Requests an erasure, and returns it; nil when it is refused.
    private func request(_ scope: ErasureScope, of user: UUID) async throws -> Erasure? {
        let new = NewErasure(id: UUID(), scope: scope, userID: user, tokenHash: hash(2), requestedBy: .user)
        let hasBegun = try await client.withTransaction { try await ErasureRepository($0).begin(new) }
        return hasBegun ? try await ErasureRepository(client).find(id: new.id) : nil
    }

    private func enrol(_ user: UUID) async throws {
        try await faces.upsert(NewFaceTemplate(userID: user, modelID: "m", pipelineVersion: 1, templateSealed: [1]))
    }

    @Test(.storage) func `the face of the time of the request is erased`() async throws {
        let ada = try await client.user()
        try await enrol(ada)
        let erasure = try #require(try await request(.face, of: ada))
        #expect(try await ErasureRepository(client).hasRemains(of: erasure))
        #expect(try await FaceErasureRepository(client).deleteTemplate(for: erasure) == 1)
        #expect(try await !ErasureRepository(client).hasRemains(of: erasure))
    }

    @Test(.storage) func `a face that is enrolled after the request stays, and does not hold the erasure up`() async throws {
        let ada = try await client.user()
        try await enrol(ada)
        let erasure = try #require(try await request(.face, of: ada))
        try await enrol(ada)
        #expect(try await FaceErasureRepository(client).deleteTemplate(for: erasure) == 0)
        #expect(try await !ErasureRepository(client).hasRemains(of: erasure))
        #expect(try await faces.find(userID: ada) != nil)
    }

    @Test(.storage) func `an erasure of the account takes every face`() async throws {
        let ada = try await client.user()
        let erasure = try #require(try await request(.account, of: ada))
        try await enrol(ada)
        #expect(try await FaceErasureRepository(client).deleteTemplate(for: erasure) == 1)
    }

    @Test(.storage) func `sessions that begin after the request keep their photos`() async throws {
        let ada = try await client.user()
        let before = try await sessions.insert(.make(user: ada))
        let erasure = try #require(try await request(.face, of: ada))
        let after = try await sessions.insert(.make(user: ada))
        #expect(try await AccountErasureRepository(client).sessions(for: erasure, after: nil, limit: 10) == [before.id])
        #expect(try await sessions.find(id: after.id)?.state == .received)
    }

    @Test(.storage) func `a retake that begins after the request has photos from before it, which are erased`() async throws {
        let ada = try await client.user()
        let before = try await sessions.insert(.make(user: ada))
        let erasure = try #require(try await request(.face, of: ada))
        var new = NewSession.make(user: ada)
        new.retaken = RetakenSession(
            seriesID: before.id, keptUntil: Date(timeIntervalSinceNow: 600), photos: [], problems: [], challenge: nil, cost: .zero,
            photoBytes: 0)
        let retake = try await sessions.insert(new)
        let found = try await AccountErasureRepository(client).sessions(for: erasure, after: nil, limit: 10)
        #expect(Set(found) == [before.id, retake.id])
    }

    @Test(.storage, arguments: ErasureScope.allCases)
    func `an erasure finds what sign-ins with the e-mail have left, before it had the account as well`(_ scope: ErasureScope) async throws {
        let ada = try await client.user(1)
        let key = AttemptKey.derive(from: TestLookup.of(hash(1)))
        let photos = FacePhotoHashRepository(client)
        let photo = { PhotoFingerprint(userID: $1, fileHash: hash($0), pixelHash: nil, signature: nil) }
        try await photos.add([photo(1, ada), photo(2, key), photo(3, UUID())], accepted: true, series: UUID())
        let decoy = try await sessions.insert(NewSession(userID: key, event: .signIn, attemptKey: key, tokenHash: hash(9)))
        let erasure = try #require(try await request(scope, of: ada))
        #expect(erasure.attemptKeys == [key])
        try await photos.add([photo(4, key)], accepted: false, series: UUID())
        _ = try await sessions.insert(NewSession(userID: key, event: .signIn, attemptKey: key, tokenHash: hash(8)))

        #expect(try await FaceErasureRepository(client).deletePhotoHashes(for: erasure) == 2)
        #expect(
            try await client.query("SELECT file_hash FROM face_photo_hashes ORDER BY 1").column("file_hash", as: [UInt8].self)
                == [hash(3), hash(4)].sorted { $0.lexicographicallyPrecedes($1) }, "what is younger may be another account's")
        #expect(try await AccountErasureRepository(client).sessions(for: erasure, after: nil, limit: 10) == [decoy.id])
    }

    @Test(.storage) func `an account without an e-mail has no sign-ins by e-mail to erase`() async throws {
        let found = try await FederatedIdentityRepository(client).findOrCreate(
            issuer: "https://example.org", subjectLookup: hash(3), signedInAt: Date())
        let ada = try #require(found?.identity.userID)
        let erasure = try #require(try await request(.account, of: ada))
        #expect(erasure.attemptKeys.isEmpty)
        try await FacePhotoHashRepository(client).add(
            [PhotoFingerprint(userID: UUID(), fileHash: hash(1), pixelHash: nil, signature: nil)], accepted: true, series: UUID())
        #expect(try await FaceErasureRepository(client).deletePhotoHashes(for: erasure) == 0)
    }

    @Test(.storage) func `a face that waits is deleted by the request`() async throws {
        let ada = try await client.user()
        try await client.execute(
            """
            INSERT INTO pending_enrolments (id, user_id, model_id, pipeline_version, template_sealed, file_hashes, pixel_hashes, signatures)
            VALUES (\(UUID()), \(ada), 'm', 1, '\\x01', '{}', '{}', '{}')
            """)
        let erasure = try #require(try await request(.face, of: ada))
        #expect(try await client.query("SELECT FROM pending_enrolments").isEmpty)
        let reports = try await ErasureRepository(client).status(id: erasure.id, tokenHash: nil)?.reports
        #expect(reports?.map(\.counts) == [["pending_enrolments": 1]])
    }

    @Test(.storage) func `a second request for a face ends no session`() async throws {
        let ada = try await client.user()
        _ = try #require(try await request(.face, of: ada))
        let session = try await sessions.insert(.make(user: ada))
        #expect(try await request(.face, of: ada) == nil)
        #expect(try await sessions.find(id: session.id)?.state == .received)
    }

    @Test(.storage) func `the erasure of an account is completed after that of its face, which names the account`() async throws {
        let erasures = ErasureRepository(client)
        let ada = try await client.user()
        let face = try #require(try await request(.face, of: ada))
        let account = try #require(try await request(.account, of: ada))
        let next = {
            try await client.withTransaction {
                try await ErasureRepository($0).lockReported(services: Self.services, olderThan: .zero, except: [])?.id
            }
        }
        for service in Self.services { try await erasures.finish(account.id, by: service) }
        #expect(try await next() == nil)
        for service in Self.services { try await erasures.finish(face.id, by: service) }
        #expect(try await next() == face.id)
        try await erasures.store(receipt: "a.b.c", of: face.id, at: Date())
        #expect(try await next() == account.id)
    }
}
