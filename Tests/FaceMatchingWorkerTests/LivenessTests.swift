import Accounts
import FaceEngine
import Foundation
import TestSupport
import Testing
import WireFormat

@testable import FaceMatchingWorker

/// Sessions whose photos answer a challenge.
@Suite struct LivenessTests {
    private static let poses: [LivenessPose] = [.left, .front, .right]

    /// Photos of a sign-up with those that answer its challenge.
    private func signUp(answering names: [String]) throws -> [Uploads.Photo] {
        try Photos.signUp() + names.map { .init(pose: .challenge, file: try Photos.read($0)) }
    }

    private func signIn(_ names: [String]) throws -> [Uploads.Photo] {
        try names.map { .init(pose: .any, file: try Photos.read($0)) }
    }

    @Test func `photos that do not show the poses of their challenge fail alike with and without an account, also of its own face`()
        async throws
    {
        try await withWorker { worker in
            let user = UUID()
            #expect(try await worker.run(.signUp, try Photos.signUp(), user: user).state == .succeeded)
            for (account, person) in [(user, "person-a"), (user, "person-b"), (UUID(), "person-a")] {
                let session = try await worker.run(
                    .signIn, try Photos.signIn(person), user: account, attemptKey: UUID(), challenge: [.front, .left, .nearer])
                #expect(session.reason == .livenessFailed && session.liveness == .failed && session.retryable == true)
                try await eventually("the photos of \(session.id) to be deleted") { !worker.hasBlobs(session.id) }
            }
        }
    }

    @Test func `a session without a challenge is not checked`() async throws {
        try await withWorker { worker in
            let user = UUID()
            let signUp = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let signIn = try await worker.run(.signIn, try Photos.signIn("person-a"), user: user)
            #expect(signUp.liveness == .notPerformed && signIn.state == .succeeded && signIn.liveness == .notPerformed)
        }
    }

    @Test func `an answer that passes leaves the decision to the face`() async throws {
        try await withWorker(PassingLiveness.self) { worker in
            let user = UUID()
            let names = (1...3).map { "person-a/sign-in-\($0)" }
            let signUp = try await worker.run(.signUp, try signUp(answering: names), user: user, challenge: Self.poses)
            #expect(signUp.state == .succeeded && signUp.liveness == .passed)
            try await eventually("all twelve photos to be deleted") { !worker.hasBlobs(signUp.id) }
            let stranger = try await worker.run(.signIn, try Photos.signIn("person-b"), user: user, challenge: Self.poses)
            #expect(stranger.reason == .noMatch && stranger.liveness == .passed)
            let again = try await worker.run(.signIn, try Photos.signIn("person-a"), user: user, challenge: Self.poses)
            #expect(again.reason == .replayedImage, "photos of a challenge are used up, too")
            #expect(again.liveness == .notPerformed, "the photos were refused before the check")
        }
    }

    @Test func `a sign-in that passes is successful, and keeps its result`() async throws {
        try await withWorker(PassingLiveness.self) { worker in
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let session = try await worker.run(.signIn, try Photos.signIn("person-a"), user: user, challenge: Self.poses)
            #expect(session.state == .succeeded && session.liveness == .passed && session.reason == nil)
        }
    }

    @Test func `a photo of a challenge that cannot be used says what is wrong with it`() async throws {
        try await withWorker { worker in
            let user = UUID()
            let photos = try ["person-a/sign-in-1", "cases/partial-face", "person-a/sign-in-3"].map { name in
                Uploads.Photo(pose: .any, file: try Photos.read(name))
            }
            let session = try await worker.run(.signIn, photos, user: user, challenge: Self.poses)
            #expect(session.reason == .lowQuality && session.liveness == .notPerformed)
            #expect(session.photoProblems == [PhotoProblems(pose: .any, index: 1, problems: [.cutOff])])
        }
    }

    @Test func `the photos that answer a sign-up's challenge are of the person of the others, and none of those`() async throws {
        try await withWorker(PassingLiveness.self) { worker in
            let cases: [([String], SessionReason, Liveness)] = [
                ((1...3).map { "person-b/sign-in-\($0)" }, .inconsistentFaces, .passed),
                (["person-a/sign-in-1", "person-a/left-1", "person-a/sign-in-2"], .duplicateImages, .notPerformed),
                (["person-a/sign-in-1", "cases/no-face", "person-a/sign-in-2"], .noFace, .notPerformed),
            ]
            for (names, reason, liveness) in cases {
                let user = UUID()
                let session = try await worker.run(.signUp, try signUp(answering: names), user: user, challenge: Self.poses)
                #expect(session.reason == reason && session.liveness == liveness, "\(names)")
                let named: [SessionReason: PhotoProblem] = [.duplicateImages: .looksLikeAnotherPhoto, .noFace: .noFace]
                let problems = named[reason].map { [PhotoProblems(pose: .challenge, index: 1, problems: [$0])] }
                #expect(session.photoProblems == problems ?? [], "\(names)")
                #expect(try await FaceTemplateRepository(worker.postgres).find(userID: user) == nil)
            }
        }
    }

    @Test func `a sign-up whose challenge was not followed enrols nothing`() async throws {
        try await withWorker { worker in
            let user = UUID()
            let names = (1...3).map { "person-a/sign-in-\($0)" }
            let session = try await worker.run(.signUp, try signUp(answering: names), user: user, challenge: [.front, .left, .nearer])
            #expect(session.reason == .livenessFailed && session.liveness == .failed)
            #expect(try await FaceTemplateRepository(worker.postgres).find(userID: user) == nil)
        }
    }

    @Test func `each pose reaches the decision in the order of its photo`() throws {
        let check = LivenessCheck { photos, poses in
            #expect(photos.count == 4 && poses == [.left, .right, .front, .nearer])
            return .failed(.flat)
        }
        let photo = ExaminedPhoto(pose: .any, digest: [1], pixelDigest: nil, analysis: .rejected(PhotoFaults(.tooDark)))
        #expect(check([photo, photo, photo, photo], to: [.left, .right, .front, .nearer]) == .failed(.flat))
        #expect(check([photo, photo], to: Self.poses) == .failed(.unusablePhoto), "photos are missing")
    }
}
