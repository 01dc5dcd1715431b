import Accounts
import FoundationEssentials
import PostgresClient
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

    private static let user = UUID()

    private static func photo(
        _ file: Int, pixels: Int? = nil, signature: [UInt8]? = nil, of user: UUID = user
    ) -> PhotoFingerprint {
        PhotoFingerprint(userID: user, fileHash: hash(file), pixelHash: pixels.map(hash), signature: signature)
    }

    /// A signature whose last bits are set.
    private static func signature(_ bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: PhotoFingerprint.signatureByteCount)
        for bit in 0..<bits { bytes[bytes.count - 1 - bit / 8] |= 1 << UInt8(bit % 8) }
        return bytes
    }

    @Test(.storage) func `photos are remembered per user by file and by picture, even for a user that does not exist`() async throws {
        let photos = FacePhotoHashRepository(client)
        func seen(_ given: PhotoFingerprint...) async throws -> Bool {
            try await photos.containsAny(of: given, maxDistance: 5, isTrusted: false, series: UUID())
        }
        #expect(try await !seen(Self.photo(1), Self.photo(2)))
        #expect(try await photos.add([Self.photo(1), Self.photo(1), Self.photo(2, pixels: 7)], accepted: true, series: UUID()) == 2)
        #expect(try await photos.add([Self.photo(2), Self.photo(3)], accepted: false, series: UUID()) == 1)
        #expect(try await photos.add([Self.photo(4, pixels: 7)], accepted: false, series: UUID()) == 0)
        #expect(try await photos.add([], accepted: false, series: UUID()) == 0)
        #expect(try await seen(Self.photo(9), Self.photo(3)))
        #expect(try await seen(Self.photo(9, pixels: 7)))
        #expect(try await !seen(Self.photo(9, pixels: 8)))
        #expect(try await !seen(Self.photo(1, pixels: 7, of: UUID())))
        #expect(try await !seen())
    }

    @Test(.storage) func `a copy is recognised by the number of bits in which its signature differs`() async throws {
        let photos = FacePhotoHashRepository(client)
        try await photos.add([Self.photo(1, signature: Self.signature(10)), Self.photo(2)], accepted: true, series: UUID())
        try await photos.add([Self.photo(3, signature: Self.signature(500))], accepted: false, series: UUID())
        for (bits, isCopy) in [(10, true), (15, true), (5, true), (16, false), (4, false), (505, true), (506, false)] {
            let given = [Self.photo(8), Self.photo(9, signature: Self.signature(bits))]
            #expect(try await photos.containsAny(of: given, maxDistance: 5, isTrusted: false, series: UUID()) == isCopy, "\(bits)")
        }
    }

    @Test(.storage) func `a refused photo makes others copies for a day and for untrusted senders only, itself for all`() async throws {
        let photos = FacePhotoHashRepository(client)
        let (refused, alike) = (Self.photo(1, signature: Self.signature(10)), Self.photo(2, signature: Self.signature(12)))
        try await photos.add([refused], accepted: false, series: UUID())
        func isCopy(_ photo: PhotoFingerprint, isTrusted: Bool) async throws -> Bool {
            try await photos.containsAny(of: [photo], maxDistance: 5, isTrusted: isTrusted, series: UUID())
        }
        #expect(try await isCopy(alike, isTrusted: false))
        #expect(try await !isCopy(alike, isTrusted: true))
        #expect(try await isCopy(refused, isTrusted: true))
        try await client.execute("UPDATE face_photo_hashes SET created_at = now() - interval '24 hours'")
        #expect(try await !isCopy(alike, isTrusted: false))
        #expect(try await isCopy(refused, isTrusted: true))
        try await client.execute("UPDATE face_photo_hashes SET is_accepted = true")
        #expect(try await isCopy(alike, isTrusted: true), "an accepted one is compared for half a year")
    }

    @Test(.storage) func `a mirrored copy is recognised`() async throws {
        let photos = FacePhotoHashRepository(client)
        try await photos.add([Self.photo(1, signature: Self.signature(10))], accepted: true, series: UUID())
        for (mirrored, isCopy) in [(10, true), (15, true), (16, false)] {
            let photo = PhotoFingerprint(
                userID: Self.photo(1).userID, fileHash: hash(9), pixelHash: nil, signature: Self.signature(500),
                mirroredSignature: Self.signature(mirrored))
            #expect(try await photos.containsAny(of: [photo], maxDistance: 5, isTrusted: true, series: UUID()) == isCopy, "\(mirrored)")
        }
    }

    @Test(.storage) func `photos are forgotten after half a year, in batches`() async throws {
        let photos = FacePhotoHashRepository(client)
        try await photos.add((0..<5).map { Self.photo($0) }, accepted: true, series: UUID())
        try await client.execute("UPDATE face_photo_hashes SET created_at = now() - interval '181 days'")
        try await photos.add([Self.photo(9)], accepted: true, series: UUID())
        try await client.execute(
            "UPDATE face_photo_hashes SET created_at = now() - interval '179 days' WHERE file_hash = \(hash(9))")
        #expect(try await photos.deleteExpired(limit: 3) == 3)
        #expect(try await photos.deleteExpired(limit: 3) == 2)
        #expect(try await photos.deleteExpired(limit: 3) == 0)
        #expect(try await photos.containsAny(of: [Self.photo(9)], maxDistance: 5, isTrusted: true, series: UUID()))
    }
}
