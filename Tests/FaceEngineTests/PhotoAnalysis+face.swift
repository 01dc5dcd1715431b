@testable import FaceEngine

extension PhotoAnalysis {
    /// Returns a face at `distance` from the template's, in a direction of its own.
    static func face(_ distance: Float = 0, axis: Int = 1, yaw: Double = 0) -> PhotoAnalysis {
        let cosine = 1 - distance * distance / 2
        var values = [Float](repeating: 0, count: FaceDescriptor.count)
        values[0] = cosine
        values[axis] = (1 - cosine * cosine).squareRoot()
        // The signature resembles no other one, and no mirror image of another one.
        var levels = [Float](repeating: 0, count: FaceSignature.side * FaceSignature.side)
        levels[axis * FaceSignature.side] = 1
        return .usable(
            FaceObservation(
                yaw: yaw, roll: 0, descriptor: FaceDescriptor(normalising: values), signature: FaceSignature(levels: levels),
                presentation: .plain))
    }
}
