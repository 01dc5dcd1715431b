import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import Accounts

/// The photos that failed sessions keep for a retake.
struct SessionRetakeTests {
    private static let problems = [PhotoProblems(pose: .any, index: 1, problems: [.blurred])]

    private static func photos(_ poses: SessionPhoto.Pose...) -> [SessionPhoto] {
        poses.enumerated().map { SessionPhoto(key: "ekyc/a/\($0.offset)", pose: $0.element, sha256: "0\($0.offset)") }
    }

    /// A sign-in that has failed by one of two photos.
    private func fail(bytes: Int = 1_000, site: Int = 1, retaking: RetakenSession? = nil) async throws -> Session {
        var new = NewSession.make(photos: Self.photos(.any, .any))
        new.photoBytes = bytes
        new.origin = RequestOrigin(addressKey: hash(site), siteKey: hash(site))
        new.retaken = retaking
        let id = try await sessions.insert(new).id
        #expect(try await sessions.complete(id: id, outcome: .failed(.lowQuality), problems: Self.problems))
        return try #require(try await sessions.find(id: id))
    }

    private func request(_ session: Session) -> RetakeRequest {
        RetakeRequest(
            of: session.id, tokenHash: session.tokenHash, event: session.event, attemptKeys: session.attemptKey.map { [$0] } ?? [],
            deviceKey: session.deviceKey)
    }

    @Test(.storage) func `a session that fails by some of its photos keeps the others for ten minutes`() async throws {
        let failed = try await fail()
        let (completed, until) = (try #require(failed.completedAt), try #require(failed.photosKeptUntil))
        #expect(until.timeIntervalSince(completed) == 600)
        #expect(failed.unneededPhotos == [failed.photos[1]])
        let kept = try #require(try await sessions.keptPhotos(for: request(failed)))
        #expect(kept.photos == failed.photos && kept.problems == Self.problems && kept.badPositions == [1])
        #expect(kept.seriesID == failed.id && kept.keptUntil == until)
    }

    @Test(.storage) func `a photo is named by its place among those of its pose`() async throws {
        let all = Self.photos(.left, .right, .left, .front, .left, .right)
        let named = [PhotoProblems(pose: .left, index: 2, problems: [.noFace]), PhotoProblems(pose: .right, index: 0, problems: [.noFace])]
        #expect(named.positions(in: all) == [1, 4])
    }

    @Test(.storage) func `photos are taken by one retake, which inherits the end of their time`() async throws {
        let failed = try await fail()
        let retaken = try #require(try await sessions.keptPhotos(for: request(failed)))
        let taken = try await race(6) { _ in try await sessions.takePhotos(for: request(failed)) }
        #expect(taken.count { $0 } == 1)
        #expect(try await sessions.keptPhotos(for: request(failed)) == nil)
        let again = try await fail(retaking: retaken)
        #expect(again.photosKeptUntil == failed.photosKeptUntil && again.seriesID == failed.id && again.isRetake)
        let over = RetakenSession(
            seriesID: retaken.seriesID, keptUntil: Date(timeIntervalSinceNow: -1), photos: retaken.photos, problems: retaken.problems,
            challenge: nil, cost: .zero, photoBytes: 0)
        #expect(try await fail(retaking: over).photosKeptUntil == nil)
    }

    @Test(.storage) func `photos are kept for the sender of their session alone`() async throws {
        let failed = try await fail()
        let changes: [(inout RetakeRequest) -> Void] = [
            { $0.sessionID = UUID() }, { $0.tokenHash = hash(2) }, { $0.event = .signUp }, { $0.authorisedBy = failed.userID },
            { $0.verificationID = UUID() }, { $0.attemptKeys = [UUID()] }, { $0.deviceKey = hash(3) },
        ]
        for change in changes {
            var other = request(failed)
            change(&other)
            #expect(try await sessions.keptPhotos(for: other) == nil)
            #expect(try await !sessions.takePhotos(for: other))
        }
        #expect(try await sessions.takePhotos(for: request(failed)))
    }

    @Test(.storage) func `a stranger cannot have the photos of a session copied without end`() async throws {
        let failed = try await fail()
        let copies = try await race(KeptPhotos.maxCopies + 4) { _ in try await sessions.countCopy(for: request(failed)) }
        #expect(copies.count { $0 } == KeptPhotos.maxCopies)
    }

    @Test(.storage) func `strangers at one site cannot keep any number of photos, nor hinder other sites`() async throws {
        let half = KeptPhotos.maxBytesPerSite / 2
        var kept: [Bool] = []
        for (site, bytes) in [(1, half), (1, half), (1, 1), (2, half)] {
            kept.append(try await fail(bytes: bytes, site: site).photosKeptUntil != nil)
        }
        #expect(kept == [true, true, false, true])
        try await client.execute("UPDATE sessions SET photo_bytes = \(KeptPhotos.maxBytes) WHERE site_key = \(hash(2))")
        #expect(try await fail(site: 3).photosKeptUntil == nil)
    }

    @Test(.storage) func `an erased face, and an expired retake, keep no photos`() async throws {
        let failed = try await fail()
        try await sessions.photosDeleted([failed.id])
        let erased = try #require(try await sessions.find(id: failed.id))
        #expect(erased.photosKeptUntil == nil && erased.photos.isEmpty)
        let retaken = RetakenSession(
            seriesID: failed.id, keptUntil: Date(timeIntervalSinceNow: 60), photos: failed.photos, problems: Self.problems, challenge: nil,
            cost: .zero, photoBytes: 0)
        var new = NewSession.make(processingTime: .seconds(-1), photos: failed.photos)
        new.retaken = retaken
        let late = try await sessions.insert(new)
        #expect(try await sessions.expireOverdue(limit: 10).map(\.photosKeptUntil) == [nil])
        #expect(try await sessions.leftoverPhotos(gracePeriod: .seconds(60), limit: 10).map(\.sessionID) == [late.id])
    }
}
