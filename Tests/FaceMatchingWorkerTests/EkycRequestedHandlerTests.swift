import Accounts
import BlobStore
import EventBus
import FaceEngine
import FaceMatchingWorker
import Foundation
import HeliographCrypto
import Imaging
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@Suite struct EkycRequestedHandlerTests {
    @Test func `a user signs up and in, another face is refused, and the photos are deleted`() async throws {
        try await withWorker(FaceMatchingWorker.self) { worker in
            let user = UUID()
            let signUp = try await worker.run(.signUp, try Photos.signUp(), user: user)
            #expect(signUp.state == .succeeded && signUp.reason == nil)
            let stored = try await FaceTemplateRepository(worker.postgres).find(userID: user)
            #expect(stored?.modelID == FaceModels.modelID)

            let stranger = try await worker.run(.signIn, try Photos.signIn("person-b"), user: user)
            #expect(stranger.state == .failed && stranger.reason == .noMatch)
            let signIn = try await worker.run(.signIn, try Photos.signIn("person-a"), user: user)
            #expect(signIn.state == .succeeded)

            for id in [signUp.id, signIn.id] { #expect(try await worker.pushedUser(of: id) == user) }
            #expect(try await worker.pushedUser(of: stranger.id) != user)
            for id in [signUp.id, stranger.id, signIn.id] {
                try await eventually("the photos of \(id) to be deleted") { !worker.hasBlobs(id) }
                try await eventually("the messages about \(id)") {
                    let completed = try await worker.messages("ekyc.completed", about: id)
                    let notified = try await worker.messages("notification.requested", about: id)
                    return completed == 1 && notified == 1
                }
            }
        }
    }

    @Test func `a session of a known device is decided before earlier ones of new installations`() async throws {
        try await withWorker(FaceMatchingWorker.self, environment: ["FACE_ENGINE_THREADS": "1"]) { worker in
            var strangers: [UUID] = []
            for _ in 0..<4 { strangers.append(try await worker.uploads.store(.signUp, try Photos.signUp(), user: UUID())) }
            let known = try await worker.uploads.store(.signUp, try Photos.signUp(), user: UUID())
            try await worker.postgres.execute("UPDATE sessions SET lane = 'known' WHERE id = \(known)")
            try await worker.postgres.withTransaction { transaction in
                try await OutboxRepository(transaction).publish(
                    strangers.map { EkycRequested(sessionID: $0, event: .signUp, lane: .new) }
                        + [EkycRequested(sessionID: known, event: .signUp, lane: .known)])
            }
            let decided = try #require(try await worker.outcome(known).completedAt)
            // The first one may have begun before the known one arrived; the waiting ones are examined after it.
            for stranger in strangers.dropFirst() {
                #expect(decided < (try #require(try await worker.outcome(stranger).completedAt)))
            }
        }
    }

    @Test func `a template is sealed for its user and does not open for another user`() async throws {
        try await withWorker { worker in
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let stored = try #require(try await FaceTemplateRepository(worker.postgres).find(userID: user))
            let sealer = try worker.context.sealer(.faces)
            let bytes = try sealer.open(stored.templateSealed, context: SealingContext.faceTemplate(userID: user))
            #expect(try EnrolledFace(decoding: bytes).isComparable)
            #expect(throws: (any Error).self) {
                try sealer.open(stored.templateSealed, context: SealingContext.faceTemplate(userID: UUID()))
            }
        }
    }

    @Test func `every bad sign-up ends with its reason`() async throws {
        let good = try Photos.signUp()
        let stranger = try Photos.signIn("person-b")
        func changed(_ index: Int, _ file: [UInt8]) -> [Uploads.Photo] {
            var photos = good
            photos[index] = .init(pose: photos[index].pose, file: file)
            return photos
        }
        var twoPeople = good
        for index in 0..<3 { twoPeople[6 + index] = .init(pose: .front, file: stranger[index].file) }
        var swapped = changed(0, good[3].file)
        swapped[3] = .init(pose: .right, file: good[0].file)
        let cases: [(SessionReason, [Uploads.Photo])] = [
            (.multipleFaces, changed(4, try Photos.read("cases/two-people"))),
            (.noFace, changed(8, try Photos.read("cases/no-face"))),
            (.lowQuality, changed(8, try Photos.read("cases/partial-face"))),
            (.invalidImage, changed(2, Array(good[2].file.prefix(good[2].file.count / 2)))),
            (.invalidImage, changed(2, Array("a text file named .jpg".utf8))),
            (.inconsistentFaces, twoPeople),
            (.duplicateImages, good.map { .init(pose: $0.pose, file: good[0].file) }),
            (.poseMismatch, swapped),
        ]
        try await withWorker { worker in
            let user = UUID()
            for (reason, photos) in cases {
                let session = try await worker.run(.signUp, photos, user: user)
                #expect(session.state == .failed && session.reason == reason)
                let photosLeft = session.photosKeptUntil == nil ? 0 : photos.count - session.photoProblems.count
                try await eventually("the photos to be deleted") { worker.blobCount(session.id) == photosLeft }
                try await eventually("one push") {
                    try await worker.messages("notification.requested", about: session.id) == 1
                }
            }
            #expect(try await FaceTemplateRepository(worker.postgres).find(userID: user) == nil)
            #expect(try await worker.count("users") == 0, "a failed sign-up leaves no account")
        }
    }

    @Test(arguments: FieldFile.allCases) func `a photo as phones write it is decoded`(file: FieldFile) async throws {
        var photos = try Photos.signIn("person-b")
        photos[2] = .init(pose: photos[2].pose, file: try file.bytes())
        let upload = photos
        try await withWorker { worker in
            // It shows colours, and no face; one that is not decoded would have been passed over, as two good photos are enough.
            let session = try await worker.run(.signIn, upload, user: UUID())
            #expect(session.reason == .noFace)
        }
    }

    @Test func `accepted photos of a sign-in stay known to the account when its e-mail changes, refused ones do not`() async throws {
        try await withWorker { worker in
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let (former, new) = (UUID(), UUID())
            #expect(try await worker.run(.signIn, try Photos.signIn("person-a"), user: user, attemptKey: former).state == .succeeded)
            #expect(try await worker.run(.signIn, try Photos.signIn("person-b"), user: user, attemptKey: former).reason == .noMatch)
            #expect(try await worker.run(.signIn, try Photos.signIn("person-a"), user: user, attemptKey: new).reason == .replayedImage)
            #expect(try await worker.run(.signIn, try Photos.signIn("person-b"), user: user, attemptKey: new).reason == .noMatch)
        }
    }

    @Test func `photos of a sign-in are known under the keys of an e-mail that it has by other lookup keys`() async throws {
        try await withWorker { worker in
            let (user, old, new) = (UUID(), UUID(), UUID())
            #expect(try await worker.run(.signIn, try Photos.signIn("person-a"), user: user, attemptKey: old).reason == .noMatch)
            let again = try await worker.run(
                .signIn, try Photos.signIn("person-a"), user: user, attemptKey: new, otherAttemptKeys: [old])
            #expect(again.reason == .replayedImage)
        }
    }

    @Test func `photos of an earlier sign-in or sign-up are refused`() async throws {
        try await withWorker { worker in
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            #expect(try await worker.run(.signIn, try Photos.signIn("person-a"), user: user).state == .succeeded)
            #expect(try await worker.run(.signIn, try Photos.signIn("person-a"), user: user).reason == .replayedImage)
            let enrolled = Array(try Photos.signUp()[6...]).map { Uploads.Photo(pose: .any, file: $0.file) }
            #expect(try await worker.run(.signIn, enrolled, user: user).reason == .replayedImage)
        }
    }

    @Test func `copies of used photos are refused: with other metadata, and compressed again`() async throws {
        try await withWorker { worker in
            let (user, other) = (UUID(), UUID())
            for account in [user, other] { _ = try await worker.run(.signUp, try Photos.signUp(), user: account) }
            #expect(try await worker.run(.signIn, try Photos.signIn("person-a"), user: user).state == .succeeded)
            let photos = try Photos.signIn("person-a")
            // A JPEG comment after the first marker: other bytes, and the same picture.
            let comments = photos.map { Uploads.Photo(pose: .any, file: $0.file.prefix(2) + [0xFF, 0xFE, 0, 3, 7] + $0.file.dropFirst(2)) }
            let recompressed = try photos.map { photo in
                let pipeline = ImagePipeline(decoder: SharedEngines.decoder)
                return Uploads.Photo(pose: .any, file: try pipeline.normalise(photo.file, maxSide: 12_000, quality: 85).picture.bytes)
            }
            for copies in [comments, recompressed] {
                #expect(copies.map(\.file) != photos.map(\.file))
                #expect(try await worker.run(.signIn, copies, user: user).reason == .replayedImage)
            }
            #expect(
                try await worker.run(.signIn, recompressed, user: other).state == .succeeded,
                "the photos of one account say nothing about another")
        }
    }

    @Test func `photos of a refused attempt cannot be tried again, unless the fault was the system's`() async throws {
        try await withWorker { worker in
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            #expect(try await worker.run(.signIn, try Photos.signIn("person-b"), user: user).reason == .noMatch)
            #expect(try await worker.run(.signIn, try Photos.signIn("person-b"), user: user).reason == .replayedImage)
            #expect(try await worker.run(.signIn, try Photos.signIn("person-a"), user: user).state == .succeeded)
            let rows = try await worker.postgres.query(
                "SELECT count(*) FILTER (WHERE is_accepted) AS used, count(*) AS all FROM face_photo_hashes WHERE user_id = \(user)")
            #expect(try rows[0].decode("used", as: Int64.self) == 12 && rows[0].decode("all", as: Int64.self) == 15)
        }
    }

    @Test func `an unknown e-mail fails like a wrong face, also when its photos are sent again`() async throws {
        try await withWorker { worker in
            let (known, decoy) = (UUID(), UUID())
            _ = try await worker.run(.signUp, try Photos.signUp(), user: known)
            var twoPeople = try Photos.signIn("person-b")
            twoPeople[0] = .init(pose: .any, file: try Photos.read("cases/two-people"))
            let attempts: [(photos: [Uploads.Photo], reason: SessionReason)] = [
                (try Photos.signIn("person-b"), .noMatch), (try Photos.signIn("person-b"), .replayedImage),
                (try Array(Photos.signUp()[..<3]).map { .init(pose: .any, file: $0.file + [0]) }, .noMatch),
            ]
            for user in [known, decoy] {
                for (index, attempt) in attempts.enumerated() where user == decoy || index < 2 {
                    let session = try await worker.run(.signIn, attempt.photos, user: user)
                    #expect(session.state == .failed && session.reason == attempt.reason, "\(index)")
                    #expect(session.retryable == true)
                }
                let session = try await worker.run(.signIn, twoPeople, user: user)
                #expect(session.reason == .replayedImage, "two of the three photos were tried before")
            }
        }
    }

    @Test func `a session that is delivered several times concurrently ends once with one push`() async throws {
        try await withWorker { worker in
            let user = UUID()
            let id = try await worker.uploads.store(.signUp, try Photos.signUp(), user: user)
            try await worker.request(id, .signUp, times: 4)
            #expect(try await worker.outcome(id).state == .succeeded)
            // Later sessions occupy each of the four workers after the deliveries of the first one.
            for _ in 0..<4 {
                _ = try await worker.run(.signIn, try Photos.signIn("person-b"), user: user)
            }
            try await eventually("all four deliveries to be acknowledged") {
                try await worker.context.transport.pendingCount(
                    of: StreamGroup(stream: "ekyc.requested", name: "face-matching-worker")) == 0
            }
            #expect(try await worker.messages("ekyc.completed", about: id) == 1)
            #expect(try await worker.messages("notification.requested", about: id) == 1)
        }
    }

    @Test func `a session past its deadline is left to the sweeper`() async throws {
        try await withWorker { worker in
            let user = UUID()
            let id = try await worker.uploads.store(
                .signIn, try Photos.signIn("person-a"), user: user, processingTime: .milliseconds(-1))
            try await worker.request(id, .signIn)
            _ = try await worker.run(.signIn, try Photos.signIn("person-b"), user: user)
            #expect(try await SessionRepository(worker.postgres).find(id: id)?.state == .received)
        }
    }

    @Test func `a folder without the models stops the start with one clear line`() async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            try await withWorker(FaceMatchingWorker.self, environment: ["FACE_MODELS_PATH": "/nonexistent"]) { _ in }
        }
        #expect(error?.name == "FACE_MODELS_PATH")
        let threshold = await #expect(throws: ConfigurationError.self) {
            try await withWorker(FaceMatchingWorker.self, environment: ["FACE_THRESHOLD": "0.6"]) { _ in }
        }
        #expect(threshold?.name == "FACE_THRESHOLD")
    }
}
