import Testing

@testable import FaceEngine

/// Tests of the rules with synthetic descriptors, without pictures.
@Suite struct DecisionRuleTests {
    private var template: EnrolledFace {
        let centre = EnrolledFaceTests.direction([:])
        return EnrolledFace(left: [centre], right: [centre], front: [centre], isMirrored: false)
    }

    private func signIn(_ analyses: [PhotoAnalysis]) -> SignInDecision.Outcome {
        let photos = analyses.enumerated().map { SignInDecision.Photo(digest: [UInt8($0)], analysis: $1) }
        return SignInDecision()(photos, template: template, isReplay: false)
    }

    @Test(arguments: [
        ([0.90, 0.99, 1.00], true), ([1.00, 1.00, 1.12], true), ([0.90, 1.00, 1.23], false), ([1.00, 1.01, 1.01], false),
        ([0.99, 1.00, 1.14], false), ([0.40, 0.40, 1.23], false), ([0.96, 0.96], true), ([0.96, 0.97], false), ([0.1], false),
        ([], false),
    ])
    func `two photos and the mean must be near, and none far off`(distances: [Float], accepted: Bool) {
        #expect(SignInDecision().matches(distances) == accepted)
    }

    @Test func `two good photos compensate for a poor one, but must be nearer`() {
        #expect(signIn([.face(0.80, axis: 1), .face(0.80, axis: 2), .rejected(PhotoFaults(.tooDark))]) == .accepted)
        #expect(signIn([.face(0.98, axis: 1), .face(0.98, axis: 2), .rejected(PhotoFaults(.tooDark))]) == .refused(.noMatch))
    }

    @Test func `one good photo is not enough, and the first fault is returned`() {
        #expect(signIn([.rejected(PhotoFaults(.tooBlurry)), .face(0.1), .rejected(PhotoFaults(.faceTooSmall))]) == .refused(.lowQuality))
        #expect(signIn([.rejected(PhotoFaults(.faceTooSmall)), .rejected(PhotoFaults(.tooBlurry)), .face(0.1)]) == .refused(.faceTooSmall))
    }

    @Test func `photos that disagree are refused before the comparison with the template`() {
        #expect(signIn([.face(0.90, axis: 1), .face(0.90, axis: 2), .face(1.30, axis: 3)]) == .refused(.inconsistentFaces))
    }

    // MARK: Sign-up

    private func signUp(yaws: [Double], change: (inout [SignUpDecision.Photo]) -> Void = { _ in }) -> SignUpDecision.Outcome {
        let poses: [FacePose] = [.left, .left, .left, .right, .right, .right, .front, .front, .front]
        var photos = poses.indices.map { index in
            SignUpDecision.Photo(
                pose: poses[index], digest: [UInt8(index)], analysis: .face(0.2, axis: index + 1, yaw: yaws[index]))
        }
        change(&photos)
        return SignUpDecision()(photos)
    }

    private let goodYaws = [-20.0, -25, -30, 20, 25, 30, -3, 0, 3]

    @Test func `good photos make a template`() throws {
        guard case .accepted(let template) = signUp(yaws: goodYaws) else { throw FixtureRefused() }
        #expect(!template.isMirrored)
        guard case .accepted(let mirrored) = signUp(yaws: goodYaws.map { -$0 }) else { throw FixtureRefused() }
        #expect(mirrored.isMirrored)
    }

    @Test(arguments: [
        [20.0, -25, -30, 20, 25, 30, -3, 0, 3], [-20, -25, -30, -20, -25, -30, -3, 0, 3], [-20, -25, -30, 20, 25, 30, -3, 0, 18],
        [-20, -25, -60, 20, 25, 30, -3, 0, 3], [-20, -25, -5, 20, 25, 30, -3, 0, 3],
    ])
    func `a head that is not turned as requested is a wrong pose`(yaws: [Double]) {
        #expect(signUp(yaws: yaws) == .refused(.poseMismatch))
    }

    @Test func `a single outlier is left out of the template`() {
        let outcome = signUp(yaws: goodYaws) { photos in
            photos[8] = SignUpDecision.Photo(pose: .front, digest: [8], analysis: .face(1.10, axis: 20, yaw: 3))
        }
        guard case .accepted(let template) = outcome else {
            Issue.record("refused: \(outcome)")
            return
        }
        // The axis of the outlier has no part in the mean.
        #expect(template.mean.values[20] == 0)
    }

    @Test func `two outliers make the photos inconsistent`() {
        let outcome = signUp(yaws: goodYaws) { photos in
            photos[7] = SignUpDecision.Photo(pose: .front, digest: [7], analysis: .face(1.10, axis: 20))
            photos[8] = SignUpDecision.Photo(pose: .front, digest: [8], analysis: .face(1.12, axis: 20, yaw: 1))
        }
        #expect(outcome == .refused(.duplicateImages) || outcome == .refused(.inconsistentFaces))
    }

    @Test(arguments: PhotoFault.allCases)
    func `a single poor photo fails a sign-up with its reason`(fault: PhotoFault) {
        let outcome = signUp(yaws: goodYaws) { photos in
            photos[4] = SignUpDecision.Photo(pose: .right, digest: [4], analysis: .rejected(PhotoFaults(fault)))
        }
        #expect(outcome == .refused(FaceRefusal(fault)))
    }
}
