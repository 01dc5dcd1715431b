import Imaging
import TestSupport
import Testing

@testable import FaceEngine

/// Rendered attacks on the liveness challenge. Rates of more attacks on more people are in docs/MODELCARD.md.
struct PresentationAttackTests {
    private static let poses: [ChallengePose] = [.left, .front, .right]

    private func analyse(_ image: RGBImage) async throws -> PhotoAnalysis {
        let pool = try await Engines.pool()
        return try await pool.run { engine throws(FaceEngineError) in try engine.analyse(image, originalScale: 1, for: .signIn) }
    }

    private func decide(_ images: [RGBImage]) async throws -> LivenessDecision.Outcome {
        var analyses: [PhotoAnalysis] = []
        for image in images { analyses.append(try await analyse(image)) }
        return LivenessDecision()(analyses, poses: Self.poses)
    }

    private func photo(_ name: String) throws -> RGBImage {
        try Engines.decoder.decodeUpright(Photos.read(name), maxSide: 400).image
    }

    @Test func `views of a head that turn as asked pass, in that order alone`() async throws {
        let views = try ["left-3", "front-1", "right-3"].map { try photo("person-a/\($0)") }
        #expect(try await decide(views) == .passed)
        #expect(try await decide([views[1], views[0], views[2]]) == .failed(.wrongPose))
    }

    @Test func `views of a head in the poses answer their challenge, and none that asks for a turn at another place`() async throws {
        let names: [ChallengePose: String] = [.left: "left", .right: "right", .front: "front", .nearer: "nearer"]
        var views: [ChallengePose: PhotoAnalysis] = [:]
        for (pose, name) in names { views[pose] = try await analyse(try photo("person-a/challenge-\(name)")) }
        let all = ChallengePose.allCases
        let orders = all.flatMap { first in all.flatMap { second in all.map { [first, second, $0] } } }
            .filter { Set($0).count == 3 && $0[0] != .nearer }
        #expect(orders.count == 18)
        for asked in orders {
            for shown in orders {
                let outcome = LivenessDecision()(try shown.map { try #require(views[$0]) }, poses: asked)
                if shown == asked { #expect(outcome == .passed, "\(asked)") }
                let turns = [asked, shown].map { $0.map { [.left, .right].contains($0) } }
                if turns[0] != turns[1] { #expect(outcome == .failed(.wrongPose), "\(asked), shown \(shown)") }
            }
        }
    }

    @Test func `a print that is turned before the camera does not pass`() async throws {
        let photo = try photo("person-a/front-1")
        let outcome = try await decide([-40.0, 0, 40].map { AttackRenderer.print(photo, turnedBy: $0) })
        #expect(outcome == .failed(.wrongPose) || outcome == .failed(.flat))
    }

    @Test func `a print that is turned is narrower than a head`() async throws {
        let photo = try photo("person-a/front-1")
        let flat = try #require(try await analyse(AttackRenderer.print(photo, turnedBy: 0)).face).presentation.aspect
        for angle in [-45.0, 45] {
            let turned = try #require(try await analyse(AttackRenderer.print(photo, turnedBy: angle)).face)
            #expect(turned.presentation.aspect < 0.85 * flat)
        }
    }

    @Test func `one photo on a screen that is turned does not pass`() async throws {
        let photo = try photo("person-a/front-1")
        #expect(try await decide([-35.0, 0, 35].map { AttackRenderer.screen(photo, turnedBy: $0) }) != .passed)
    }

    @Test func `a photo that is sent again with other bytes has the signature of the first`() async throws {
        let photo = try photo("person-a/right-1")
        let hasher = FaceSignatureHasher(key: [1])
        var hashes: [[UInt8]] = []
        for image in [photo, AttackRenderer.altered(photo)] {
            hashes.append(hasher.hash(try #require(try await analyse(image).face).signature, account: "ada"))
        }
        #expect(FaceSignatureHasher.distance(hashes[0], hashes[1]) <= FaceSignatureHasher.maxDistance)
    }
}
