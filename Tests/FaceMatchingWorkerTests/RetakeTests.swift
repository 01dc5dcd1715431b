import Accounts
import BlobStore
import Foundation
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import FaceMatchingWorker

/// What the worker keeps of a failed session, and how it decides a retake with these photos.
@Suite struct RetakeTests {
    private static let bad = [PhotoProblems(pose: .any, index: 1, problems: [.noFace])]

    /// The photos of a sign-in whose second one shows no face.
    private static func photos(_ first: String, bad number: Int, _ third: String) throws -> [Uploads.Photo] {
        [try Photos.read(first), try Photos.read("cases/no-face") + [UInt8(number)], try Photos.read(third)].map {
            Uploads.Photo(pose: .any, file: $0)
        }
    }

    /// Stores a session that retakes the bad photos of a failed one, as identity-api does.
    private static func retake(
        _ failed: Session, with file: [UInt8], _ fixture: HandlerFixture
    ) async throws -> HandlerFixture.Request {
        var photos: [Uploads.Photo] = []
        for (position, photo) in failed.photos.enumerated() {
            let isBad = failed.unneededPhotos.contains(photo)
            let kept = isBad ? file : try await fixture.blobs.read(try BlobKey(photo.key), limit: 1 << 24)
            photos.append(Uploads.Photo(pose: failed.photos[position].pose, file: kept))
        }
        let request = RetakeRequest(
            of: failed.id, tokenHash: failed.tokenHash, event: failed.event, verificationID: failed.verificationID,
            attemptKeys: failed.attemptKey.map { [$0] } ?? [])
        let retaken = try #require(try await fixture.sessions.keptPhotos(for: request))
        #expect(try await fixture.sessions.takePhotos(for: request))
        let id = try await fixture.uploads.store(
            failed.event, photos, user: failed.userID, attemptKey: failed.attemptKey, retaking: (retaken, failed.verificationID))
        return fixture.request(id, failed.event)
    }

    private static func keptFiles(_ session: Session, _ fixture: HandlerFixture) async throws -> [Bool] {
        var isThere: [Bool] = []
        for photo in session.photos { isThere.append(try await fixture.blobs.readIfPresent(photo.key, limit: 1 << 24) != nil) }
        return isThere
    }

    @Test func `the good photos of a failed sign-in are kept, and the bad ones deleted`() async throws {
        try await HandlerFixture.with { fixture in
            let request = try await fixture.upload(.signIn, try Self.photos("person-a/sign-in-1", bad: 1, "person-a/sign-in-3"))
            let failed = try await fixture.outcome(of: request)
            #expect(failed.photoProblems == Self.bad && failed.photosKeptUntil != nil)
            #expect(try await Self.keptFiles(failed, fixture) == [true, false, true])
            try await fixture.deliver(request)
            #expect(try await Self.keptFiles(failed, fixture) == [true, false, true], "a second delivery deletes none of them")
        }
    }

    @Test func `a retake with the kept photos is accepted, which are no replays in their own series`() async throws {
        try await HandlerFixture.with { fixture in
            let user = UUID()
            #expect(try await fixture.outcome(of: try await fixture.upload(.signUp, user: user)).state == .succeeded)
            let first = try Self.photos("person-a/sign-in-1", bad: 1, "person-a/sign-in-3")
            let failed = try await fixture.outcome(of: try await fixture.upload(.signIn, first, user: user))
            let again = try await fixture.outcome(of: try await Self.retake(failed, with: try Photos.read("cases/no-face") + [2], fixture))
            #expect(again.reason == .noFace && again.photoProblems == Self.bad && again.photosKeptUntil == failed.photosKeptUntil)
            let last = try await fixture.outcome(of: try await Self.retake(again, with: try Photos.read("person-a/sign-in-2"), fixture))
            #expect(last.state == .succeeded && last.photosKeptUntil == nil && last.photos.isEmpty)
            // The e-mail has the user's id here.
            let accepted = try await fixture.postgres.query(
                "SELECT FROM face_photo_hashes WHERE is_accepted AND series_id = \(failed.id) AND signature IS NOT NULL")
            #expect(accepted.count == 3)
        }
    }

    @Test func `photos of a retake are replays in any other session`() async throws {
        try await HandlerFixture.with { fixture in
            let user = UUID()
            #expect(try await fixture.outcome(of: try await fixture.upload(.signUp, user: user)).state == .succeeded)
            let photos = try Self.photos("person-a/sign-in-1", bad: 1, "person-a/sign-in-3")
            let failed = try await fixture.outcome(of: try await fixture.upload(.signIn, photos, user: user))
            let all = try await fixture.outcome(of: try await fixture.upload(.signIn, user: user))
            #expect(all.reason == .replayedImage, "outside its series a kept photo counts as used")
            let retaken = try await fixture.outcome(of: try await Self.retake(failed, with: try Photos.read("person-a/sign-in-2"), fixture))
            #expect(retaken.reason == .replayedImage, "the other session has used the new photo before")
        }
    }

    @Test func `a photo that another session had used before makes no retake succeed`() async throws {
        try await HandlerFixture.with { fixture in
            let user = UUID()
            #expect(try await fixture.outcome(of: try await fixture.upload(.signUp, user: user)).state == .succeeded)
            let name = "person-a/sign-in-1"
            let used = try await fixture.outcome(
                of: try await fixture.upload(.signIn, try Self.photos(name, bad: 1, "person-b/sign-in-1"), user: user))
            #expect(used.state == .failed)
            let photos = [try Photos.read(name), try Photos.read(name), try Photos.read("person-a/sign-in-3")]
            let failed = try await fixture.outcome(
                of: try await fixture.upload(.signIn, photos.map { .init(pose: .any, file: $0) }, user: user))
            #expect(failed.reason == .duplicateImages && failed.photosKeptUntil != nil)
            let retaken = try await fixture.outcome(of: try await Self.retake(failed, with: try Photos.read("person-a/sign-in-2"), fixture))
            #expect(retaken.reason == .replayedImage)
        }
    }

    @Test func `a sign-up is enrolled with retaken photos`() async throws {
        try await HandlerFixture.with { fixture in
            var photos = try Photos.signUp()
            photos[4] = Uploads.Photo(pose: photos[4].pose, file: try Photos.read("cases/no-face"))
            let failed = try await fixture.outcome(of: try await fixture.upload(.signUp, photos))
            #expect(try await Self.keptFiles(failed, fixture).count { $0 } == 8)
            let retaken = try await fixture.outcome(of: try await Self.retake(failed, with: try Photos.signUp()[4].file, fixture))
            #expect(retaken.state == .succeeded)
        }
    }

    @Test func `nothing is kept where all photos are bad, or the failure is not of the photos alone`() async throws {
        try await HandlerFixture.with { fixture in
            let bad = try (0..<3).map { Uploads.Photo(pose: .any, file: try Photos.read("cases/no-face") + [UInt8($0)]) }
            for photos in [bad, try Photos.signIn("person-b")] {
                let failed = try await fixture.outcome(of: try await fixture.upload(.signIn, photos))
                #expect(failed.state == .failed && failed.photosKeptUntil == nil && failed.photos.isEmpty)
            }
        }
    }

    @Test func `the bad photos of a session whose worker died after the decision are deleted with the next delivery`() async throws {
        try await HandlerFixture.with { fixture in
            let request = try await fixture.upload(.signIn, try Self.photos("person-a/sign-in-1", bad: 1, "person-a/sign-in-3"))
            fixture.blobs.failDeletions(.unavailable)
            let failed = try await fixture.outcome(of: request)
            #expect(try await Self.keptFiles(failed, fixture) == [true, true, true])
            fixture.blobs.failDeletions(nil)
            try await fixture.deliver(request)
            #expect(try await Self.keptFiles(failed, fixture) == [true, false, true])
        }
    }

    @Test func `all photos of a retake that is erased while it is examined are deleted`() async throws {
        try await HandlerFixture.with { fixture in
            let photos = try Self.photos("person-a/sign-in-1", bad: 1, "person-a/sign-in-3")
            let failed = try await fixture.outcome(of: try await fixture.upload(.signIn, photos))
            let request = try await Self.retake(failed, with: try Photos.read("person-a/sign-in-2"), fixture)
            fixture.blobs.duringFirstRead { [postgres = fixture.postgres] in
                try await postgres.execute("DELETE FROM sessions WHERE id = \(request.session)")
            }
            try await fixture.deliver(request)
            #expect(!fixture.hasPhotos(request))
        }
    }

    @Test func `a worker that comes too late deletes no photos that another one has kept`() async throws {
        try await HandlerFixture.with { fixture in
            let request = try await fixture.upload(.signIn, try Self.photos("person-a/sign-in-1", bad: 1, "person-a/sign-in-3"))
            fixture.blobs.duringFirstRead { [sessions = fixture.sessions] in
                _ = try await sessions.complete(id: request.session, outcome: .failed(.noFace), problems: Self.bad)
            }
            try await fixture.deliver(request)
            #expect(try await Self.keptFiles(try await fixture.session(request), fixture) == [true, false, true])
        }
    }
}
