@testable import FaceEngine

extension FacePresentation {
    /// A frontal face of a fifth of the photo's side, in even light, without a background.
    static let plain = FacePresentation(
        plane: [SIMD2(60, 100), SIMD2(120, 100), SIMD2(68, 160), SIMD2(112, 160)], noseTip: SIMD2(90, 136), size: 0.2,
        colour: SIMD3(160, 130, 110), background: nil)
}
