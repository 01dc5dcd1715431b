@testable import FaceEngine

extension FacePresentation {
    /// A frontal face of a fifth of the photo's side, in even light, without a background.
    static let plain = FacePresentation(
        aspect: 1.5, size: 0.2, colour: SIMD3(160, 130, 110), background: nil)
}
