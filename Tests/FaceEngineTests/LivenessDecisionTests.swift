import Foundation
import Testing

@testable import FaceEngine

/// Tests of the rules with the geometry of a simulated head, without pictures.
@Suite struct LivenessDecisionTests {
    /// The features of a head in distances between its eyes: right, down, towards the camera.
    private static let features: [SIMD3<Double>] = [
        SIMD3(-0.5, 0, 0), SIMD3(0.5, 0, 0), SIMD3(-0.37, 1.05, 0), SIMD3(0.37, 1.05, 0), SIMD3(0, 0.62, 0.42),
    ]

    /// Returns a photo of the head, turned by some degrees.
    ///
    /// - Parameter flatness: 0 for a head, 1 for a print of its frontal view.
    private func photo(
        _ yaw: Double, size: Double = 0.2, flatness: Double = 0, background: [Double]? = nil, colour: SIMD3<Double> = SIMD3(160, 130, 110),
        measuredYaw: Double? = nil
    ) -> PhotoAnalysis {
        let turn = (cosine: cosine(ofDegrees: yaw), sine: sine(ofDegrees: yaw))
        let places = Self.features.map { feature -> SIMD2<Double> in
            let depth = feature.z * (1 - flatness)
            let (x, z) = (feature.x * turn.cosine + depth * turn.sine, depth * turn.cosine - feature.x * turn.sine)
            let scale = 500 * size / (1 - z / 12)
            return SIMD2(400 + x * scale, 300 + feature.y * scale)
        }
        let presentation = FacePresentation(
            plane: Array(places.prefix(4)), noseTip: places[4], size: size, colour: colour, background: background)
        return .usable(
            FaceObservation(
                yaw: measuredYaw ?? yaw, roll: 0, descriptor: EnrolledFaceTests.direction([:]),
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

    @Test(arguments: [-40.0, -20, 0, 20, 40])
    func `a print turned before the camera is flat whatever turn is measured`(angle: Double) {
        let photos = [
            photo(angle - 20, flatness: 1, measuredYaw: -20), photo(angle, flatness: 1, measuredYaw: 0),
            photo(angle + 20, flatness: 1, measuredYaw: 20),
        ]
        #expect(decide(photos, [.left, .front, .right]) == .failed(.flat))
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
        #expect(decide([photo(-20), .rejected(.tooDark), photo(20)], [.left, .front, .right]) == .failed(.unusablePhoto))
    }

    @Test func `a projective map takes each of its four points to its place and lines to lines`() throws {
        let from = [SIMD2(0.0, 0), SIMD2(10.0, 1), SIMD2(1.0, 12), SIMD2(9.0, 10)]
        let to = [SIMD2(100.0, 50), SIMD2(160.0, 40), SIMD2(105.0, 130), SIMD2(150.0, 110)]
        let map = try #require(Homography(from: from, to: to))
        for (point, place) in zip(from, to) {
            let difference = try #require(map(point)) - place
            #expect(abs(difference.x) + abs(difference.y) < 1e-9)
        }
        let line = try [0.0, 0.4, 1].map { try #require(map(from[0] + (from[3] - from[0]) * $0)) }
        let (one, other) = (line[1] - line[0], line[2] - line[0])
        #expect(abs(one.x * other.y - one.y * other.x) < 1e-6)
        #expect(Homography(from: [from[0], from[0], from[2], from[3]], to: to) == nil)
    }
}

private func sine(ofDegrees degrees: Double) -> Double { Foundation.sin(degrees * .pi / 180) }
private func cosine(ofDegrees degrees: Double) -> Double { Foundation.cos(degrees * .pi / 180) }
