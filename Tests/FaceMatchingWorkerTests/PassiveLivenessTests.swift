import FaceEngine
import Foundation
import ServiceDefaults
import Storage
import TestSupport
import Testing
import WireFormat

@testable import FaceMatchingWorker

/// Sessions with the operator's model of liveness, with a challenge and without.
@Suite struct PassiveLivenessTests {
    /// A detector that finds always the same.
    private struct Fixed: PresentationAttackDetector {
        let outcome: LivenessOutcome?

        func judge(_ photos: [ExaminedPhoto], challenge: [LivenessPose]?) -> LivenessOutcome? { outcome }
    }

    private func configurationError(_ environment: [String: String]) async -> ConfigurationError? {
        await #expect(throws: ConfigurationError.self) { try await withWorker(FaceMatchingWorker.self, environment: environment) { _ in } }
    }

    @Test func `a model that is required and missing, or that cannot be used, stops the start`() async throws {
        let folder = try TemporaryDirectory()
        var file = try Data(contentsOf: URL(fileURLWithPath: try await PassiveModelFile.convert("constant", into: folder)))
        file[200] ^= 1
        let damaged = "\(folder.path)/damaged.hgm"
        try file.write(to: URL(fileURLWithPath: damaged))
        let missing = await configurationError(["FACE_REQUIRE_PASSIVE": "1"])
        #expect(missing?.name == "FACE_PASSIVE_MODEL" && missing?.description.contains("convert-passive-model.py") == true)
        for path in ["/nowhere/passive.hgm", damaged] {
            for isRequired in ["0", "1"] {
                let error = await configurationError(["FACE_PASSIVE_MODEL": path, "FACE_REQUIRE_PASSIVE": isRequired])
                #expect(error?.name == "FACE_PASSIVE_MODEL" && error?.problem.contains(path) == true)
            }
        }
    }

    @Test func `a session with a photo that the model refuses fails alike with and without an account, and enrols nothing`() async throws {
        let folder = try TemporaryDirectory()
        let model = try await PassiveModelFile.convert("constant", into: folder, liveClass: 0)
        try await withWorker(FaceMatchingWorker.self, environment: ["FACE_PASSIVE_MODEL": model, "FACE_REQUIRE_PASSIVE": "1"]) { worker in
            let user = UUID()
            let signUp = try await worker.run(.signUp, try Photos.signUp(), user: user)
            #expect(signUp.reason == .livenessFailed && signUp.liveness == .failed && signUp.retryable == true)
            #expect(try await FaceTemplateRepository(worker.postgres).find(userID: user) == nil)
            for challenge in [nil, [.left, .front, .right]] as [[LivenessPose]?] {
                let signIn = try await worker.run(
                    .signIn, try Photos.signIn("person-a"), user: UUID(), attemptKey: UUID(), challenge: challenge)
                #expect(signIn.reason == .livenessFailed && signIn.liveness == .failed)
                try await eventually("the photos of \(signIn.id) to be deleted") { !worker.hasBlobs(signIn.id) }
            }
        }
    }

    @Test func `photos that the model takes for live ones prove nothing without a challenge`() async throws {
        let folder = try TemporaryDirectory()
        let model = try await PassiveModelFile.convert("constant", into: folder)
        try await withWorker(FaceMatchingWorker.self, environment: ["FACE_PASSIVE_MODEL": model]) { worker in
            let user = UUID()
            let signUp = try await worker.run(.signUp, try Photos.signUp(), user: user)
            #expect(signUp.state == .succeeded && signUp.liveness == .notPerformed)
            let signIn = try await worker.run(.signIn, try Photos.signIn("person-a"), user: user)
            #expect(signIn.state == .succeeded && signIn.liveness == .notPerformed)
        }
    }

    @Test func `the first fault decides, then a proof`() {
        let cases: [([LivenessOutcome?], LivenessOutcome?)] = [
            ([], nil), ([nil, nil], nil), ([.passed, nil], .passed), ([nil, .passed], .passed),
            ([nil, .failed(.presentationAttack)], .failed(.presentationAttack)),
            ([.passed, .failed(.presentationAttack)], .failed(.presentationAttack)),
            ([.failed(.flat), .failed(.presentationAttack)], .failed(.flat)), ([.failed(.flat), .passed], .failed(.flat)),
        ]
        for (outcomes, result) in cases {
            #expect(LivenessCheck(detectors: outcomes.map(Fixed.init))([], challenge: nil) == result, "\(outcomes)")
        }
    }

    @Test func `one photo below the threshold is enough, and one without a score is below it`() async throws {
        let photo = try Photos.read("person-a/front-1")
        let analysed = try await SharedEngines.pool.value.examine(photo, for: .signIn).photo
        guard case .usable(let face) = analysed.analysis else { throw DeadlineExceeded(description: "the photo has no usable face") }
        func examined(_ score: Float?) -> ExaminedPhoto {
            var scored = face
            scored.liveScore = score
            return ExaminedPhoto(pose: .any, digest: [1], pixelDigest: nil, analysis: .usable(scored))
        }
        let unusable = ExaminedPhoto(pose: .any, digest: [1], pixelDigest: nil, analysis: .rejected(.tooDark))
        let detector = PassiveDetector(threshold: 0.7)
        let refused = LivenessOutcome.failed(.presentationAttack)
        #expect(detector.judge([examined(0.7), examined(1), unusable], challenge: nil) == nil)
        #expect(detector.judge([examined(0.9), examined(0.69), examined(0.9)], challenge: nil) == refused)
        #expect(detector.judge([examined(0.9), examined(nil)], challenge: [.left, .front]) == refused)
        #expect(detector.judge([examined(.nan)], challenge: nil) == refused)
    }
}
