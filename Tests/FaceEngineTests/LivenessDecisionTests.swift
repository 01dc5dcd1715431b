import Foundation
import Testing

@testable import FaceEngine

/// Tests of the rules without pictures.
@Suite struct LivenessDecisionTests {
    /// Returns a photo of a head that is turned by some degrees.
    ///
    /// - Parameter angle: The degrees by which a print is turned that seems to be a head turned by `yaw`.
    private func photo(
        _ yaw: Double, size: Double = 0.2, angle: Double? = nil, background: [Double]? = nil, colour: SIMD3<Double> = SIMD3(160, 130, 110)
    ) -> PhotoAnalysis {
        let presentation = FacePresentation(
            aspect: 1.5 * cosine(ofDegrees: angle ?? yaw), size: size, colour: colour, background: background)
        return .usable(
            FaceObservation(
                yaw: yaw, roll: 0, descriptor: EnrolledFaceTests.direction([:]),
                signature: FaceSignature(levels: [Float](repeating: 0, count: FaceSignature.side * FaceSignature.side)),
                presentation: presentation))
    }

    private func decide(_ photos: [PhotoAnalysis], _ poses: [ChallengePose]) -> LivenessDecision.Outcome {
        LivenessDecision()(photos, poses: poses)
    }

    @Test func `a head that turns as asked passes`() {
        #expect(decide([photo(-22), photo(2), photo(20)], [.left, .front, .right]) == .passed)
        #expect(decide([photo(1), photo(18), photo(0, size: 0.3)], [.front, .right, .nearer]) == .passed)
    }

    @Test func `which side is left is the camera's to say, but the two sides differ`() {
        #expect(decide([photo(22), photo(2), photo(-20)], [.left, .front, .right]) == .passed)
        #expect(decide([photo(22), photo(2), photo(20)], [.left, .front, .right]) == .failed(.wrongPose))
    }

    @Test func `poses in another order are wrong`() {
        #expect(decide([photo(2), photo(-22), photo(20)], [.left, .front, .right]) == .failed(.wrongPose))
        #expect(decide([photo(0, size: 0.3), photo(18), photo(1)], [.front, .right, .nearer]) == .failed(.wrongPose))
    }

    @Test func `a face that is hardly nearer is a wrong pose`() {
        #expect(decide([photo(1), photo(18), photo(0, size: 0.22)], [.front, .right, .nearer]) == .failed(.wrongPose))
    }

    @Test func `a turn too small or too large is a wrong pose`() {
        for turned in [5.0, 60] { #expect(decide([photo(turned), photo(0), photo(-20)], [.left, .front, .right]) == .failed(.wrongPose)) }
    }

    @Test func `a print that seems to be a turned head is too narrow`() {
        let front = photo(1)
        #expect(decide([photo(-17, angle: -40), front, photo(17, angle: 40)], [.left, .front, .right]) == .failed(.flat))
        #expect(decide([front, photo(16, angle: 45), photo(0, size: 0.3)], [.front, .right, .nearer]) == .failed(.flat))
    }

    @Test func `another background, light or colour of light is a changed scene`() {
        let count = FacePresentation.colourBins * FacePresentation.colourBins * FacePresentation.brightnessBins
        var (red, green) = ([Double](repeating: 0, count: count), [Double](repeating: 0, count: count))
        (red[3], green[9]) = (1, 1)
        let poses: [ChallengePose] = [.left, .front, .right]
        #expect(decide([photo(-20, background: red), photo(0, background: red), photo(20, background: red)], poses) == .passed)
        let changed = [
            photo(20, background: green), photo(20, background: red, colour: SIMD3(60, 50, 40)),
            photo(20, background: red, colour: SIMD3(110, 130, 160)),
        ]
        for last in changed {
            #expect(decide([photo(-20, background: red), photo(0, background: red), last], poses) == .failed(.changedScene))
        }
    }

    @Test func `a photo without a usable face fails`() {
        #expect(decide([photo(-20), .rejected(PhotoFaults(.tooDark)), photo(20)], [.left, .front, .right]) == .failed(.unusablePhoto))
    }
}

private func cosine(ofDegrees degrees: Double) -> Double { Foundation.cos(degrees * .pi / 180) }
