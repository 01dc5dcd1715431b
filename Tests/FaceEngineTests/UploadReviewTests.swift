import Imaging
import TestSupport
import Testing

@testable import FaceEngine

/// Tests of the review with synthetic descriptors, without pictures.
@Suite struct UploadReviewTests {
    private static let poses: [FacePose] = [.left, .left, .left, .right, .right, .right, .front, .front, .front]
    private static let goodYaws = [-20.0, -25, -30, 20, 25, 30, -3, 0, 3]

    private func photos(_ yaws: [Double]) -> [UploadReview.Photo] {
        yaws.enumerated().map { index, yaw in
            UploadReview.Photo(pose: Self.poses[index], digests: [[UInt8(index)]], analysis: .face(0.2, axis: index + 1, yaw: yaw))
        }
    }

    private func faults(_ photos: [UploadReview.Photo]) -> [Int: [PhotoFault]] {
        Dictionary(uniqueKeysWithValues: UploadReview()(photos).enumerated().filter { !$1.isEmpty }.map { ($0, $1) })
    }

    @Test func `good photos have no faults, also those of a camera that mirrors`() {
        #expect(faults(photos(Self.goodYaws)).isEmpty)
        #expect(faults(photos(Self.goodYaws.map { -$0 })).isEmpty)
    }

    @Test(arguments: [
        ([20.0, -25, -30, 20, 25, 30, -3, 0, 3], [0: [PhotoFault.turnedWrongWay]]),
        ([20, -25, -30, -20, 25, 30, -3, 0, 3], [0: [.turnedWrongWay], 3: [.turnedWrongWay]]),
        ([20, 25, -30, -20, -25, -30, -3, 0, 3], [2: [.turnedWrongWay]]),
        ([-20, -25, -30, -20, -25, -30, -3, 0, 3], [3: [.turnedWrongWay], 4: [.turnedWrongWay], 5: [.turnedWrongWay]]),
        ([-20, -25, -60, 20, 60, 30, -3, 0, 18], [2: [.turnedTooFar], 4: [.turnedTooFar], 8: [.turnedTooFar]]),
        ([-20, -25, -5, 5, 25, 60, -3, -18, 3], [2: [.turnedTooLittle], 3: [.turnedTooLittle], 5: [.turnedTooFar], 7: [.turnedTooFar]]),
        ([-20, -25, 60, 20, 25, 30, -3, 0, 3], [2: [.turnedWrongWay, .turnedTooFar]]),
    ])
    func `each head that is not turned as requested is named, with the way in which it is wrong`(
        yaws: [Double], expected: [Int: [PhotoFault]]
    ) {
        #expect(faults(photos(yaws)) == expected)
    }

    @Test func `every bad photo has all its faults, also its turn where it was measured`() {
        var all = photos(Self.goodYaws)
        let bad: [(Int, PhotoFaults)] = [
            (0, PhotoFaults(.tooDark, [.tooBlurry], yaw: -2)), (4, PhotoFaults(.noFace)), (8, PhotoFaults(.headTilted, yaw: 0)),
        ]
        for (index, faults) in bad {
            all[index] = UploadReview.Photo(pose: Self.poses[index], digests: [[UInt8(index)]], analysis: .rejected(faults))
        }
        #expect(faults(all) == [0: [.tooDark, .tooBlurry, .turnedTooLittle], 4: [.noFace], 8: [.headTilted]])
    }

    @Test func `of copies all but the first are named: files, pictures and faces`() {
        let rejected = PhotoAnalysis.rejected(PhotoFaults(.tooDark))
        let upload: [UploadReview.Photo] = [
            .init(pose: nil, digests: [[1]], analysis: .face(0.2, axis: 1)),
            .init(pose: nil, digests: [[2]], analysis: .face(0.2, axis: 1)),
            .init(pose: nil, digests: [[3], [9]], analysis: rejected), .init(pose: nil, digests: [[4], [9]], analysis: rejected),
            .init(pose: .front, digests: [[5]], analysis: .face(0.2, axis: 1)),
        ]
        #expect(faults(upload) == [1: [.copyOfAnother], 2: [.tooDark], 3: [.tooDark, .copyOfAnother]])
    }

    @Test func `a sign-up is refused for its photos if and only if the review names one, unless they show several people`() {
        var random = SeededGenerator(seed: 45)
        for _ in 0..<2_000 {
            var all = photos(
                Self.goodYaws.map { $0 + Double.random(in: -14...14, using: &random) * Double.random(in: 0...1, using: &random) })
            for index in all.indices where Int.random(in: 0..<12, using: &random) == 0 {
                let fault = PhotoFault.allCases.randomElement(using: &random) ?? .noFace
                let analysis: [PhotoAnalysis] = [
                    .rejected(PhotoFaults(fault)), .face(0.2, axis: 1, yaw: Self.goodYaws[index]), .face(1.1, axis: 15 + index, yaw: 0),
                ]
                all[index] = UploadReview.Photo(
                    pose: all[index].pose, digests: all[index].digests, analysis: analysis.randomElement(using: &random) ?? analysis[0])
            }
            let outcome = SignUpDecision()(all.enumerated().map { .init(pose: Self.poses[$0], digest: [UInt8($0)], analysis: $1.analysis) })
            let named = faults(all)
            switch outcome {
            case .accepted: #expect(named.isEmpty)
            case .refused(.inconsistentFaces): break
            case .refused(let reason): #expect(named.values.contains { $0.contains { FaceRefusal($0) == reason } }, "\(reason): \(named)")
            }
        }
    }

    // MARK: Gates

    @Test func `a small face is not blurred as well, and a face that is cut off not dark`() {
        let landmarks = FaceLandmarks(leftEye: (150, 150), rightEye: (200, 150), nose: (175, 180))
        let image = RGBImage(width: 400, height: 400, pixels: [UInt8](repeating: 9, count: 400 * 400 * 3))
        let slope: [UInt8] = (60..<172).flatMap { [$0, $0, $0] }
        let blurred = AlignedFace(pixels: (0..<112).flatMap { _ in slope })
        let dark = AlignedFace(pixels: [UInt8](repeating: 9, count: 112 * 112 * 3))
        func faults(_ left: Double, side: Double, _ face: AlignedFace?) -> [PhotoFault] {
            let box = FaceBox(left: left, top: 100, right: left + side - 1, bottom: 100 + side - 1)
            return PhotoGates(for: .signUp).faults(of: box, HeadPose(landmarks), face, in: image, originalScale: 1)
        }
        #expect(faults(100, side: 150, blurred) == [.tooBlurry])
        #expect(faults(100, side: 90, blurred) == [.faceTooSmall])
        #expect(faults(100, side: 90, dark) == [.faceTooSmall, .tooDark])
        #expect(faults(-50, side: 150, dark) == [.faceCutOff])
        #expect(faults(-50, side: 90, nil) == [.faceTooSmall, .faceCutOff])
        #expect(faults(100, side: 150, nil) == [.noFace])
    }

    @Test(arguments: [
        (FaceMeasures(mean: 100, deviation: 30, sharpness: 0.5, saturated: 0), []),
        (FaceMeasures(mean: 30, deviation: 5, sharpness: 0.01, saturated: 0), [PhotoFault.tooDark, .tooBlurry]),
        (FaceMeasures(mean: 30, deviation: 5, sharpness: 3, saturated: 0), [.tooDark]),
        (FaceMeasures(mean: 150, deviation: 40, sharpness: 0.5, saturated: 0.3), [.tooBright]),
        (FaceMeasures(mean: 100, deviation: 5, sharpness: 0.01, saturated: 0), [.lowContrast, .tooBlurry]),
        (FaceMeasures(mean: 100, deviation: 30, sharpness: 3, saturated: 0), [.tooNoisy]),
    ])
    func `light and sharpness are separate faults, and what the light causes is none`(measures: FaceMeasures, faults: [PhotoFault]) {
        #expect(PhotoGates(for: .signUp).faults(in: measures) == faults)
    }
}
