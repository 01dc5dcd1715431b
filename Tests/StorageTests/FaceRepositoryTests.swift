import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing

struct FaceRepositoryTests {
    @Test(.storage) func `exactly one of several concurrent enrolments of a user succeeds`() async throws {
        let user = try await client.user()
        let made = try await race(12) { index in
            try await faces.insertIfAbsent(
                NewFaceTemplate(
                    userID: user, modelID: "m", pipelineVersion: 1, templateSealed: [UInt8(index)]))
        }
        #expect(made.count { $0 } == 1)
    }

    @Test(.storage) func `an upsert replaces the face and keeps the time of the first enrolment`() async throws {
        let user = try await client.user()
        #expect(try await faces.find(userID: user) == nil)
        let first = NewFaceTemplate(userID: user, modelID: "m1", pipelineVersion: 1, templateSealed: [1])
        try await faces.upsert(first)
        let before = try #require(try await faces.find(userID: user))
        try await faces.upsert(
            NewFaceTemplate(userID: user, modelID: "m2", pipelineVersion: 2, templateSealed: [2, 3]))
        let after = try #require(try await faces.find(userID: user))
        #expect(after.modelID == "m2")
        #expect(after.pipelineVersion == 2)
        #expect(after.templateSealed == [2, 3])
        #expect(after.createdAt == before.createdAt)
        #expect(after.updatedAt > before.updatedAt)
        #expect(try await !faces.insertIfAbsent(first))
    }

    @Test(.storage) func `photo hashes are stored per user, even for a user that does not exist`() async throws {
        let photos = FacePhotoHashRepository(client)
        let decoy = UUID()
        #expect(try await !photos.containsAny(userID: decoy, hashes: [hash(1), hash(2)]))
        #expect(try await photos.add(userID: decoy, hashes: [hash(1), hash(1), hash(2)]) == 2)
        #expect(try await photos.add(userID: decoy, hashes: [hash(2), hash(3)]) == 1)
        #expect(try await photos.containsAny(userID: decoy, hashes: [hash(9), hash(3)]))
        #expect(try await !photos.containsAny(userID: UUID(), hashes: [hash(1)]))
        #expect(try await !photos.containsAny(userID: decoy, hashes: []))
    }

    @Test(.storage) func `photo hashes are deleted after half a year, in batches`() async throws {
        let photos = FacePhotoHashRepository(client)
        let user = UUID()
        try await photos.add(userID: user, hashes: (0..<5).map(hash))
        try await client.execute("UPDATE face_photo_hashes SET created_at = now() - interval '181 days'")
        try await photos.add(userID: user, hashes: [hash(9)])
        try await client.execute(
            "UPDATE face_photo_hashes SET created_at = now() - interval '179 days' WHERE photo_hash = \(hash(9))")
        #expect(try await photos.deleteExpired(limit: 3) == 3)
        #expect(try await photos.deleteExpired(limit: 3) == 2)
        #expect(try await photos.deleteExpired(limit: 3) == 0)
        #expect(try await photos.containsAny(userID: user, hashes: [hash(9)]))
    }
}
