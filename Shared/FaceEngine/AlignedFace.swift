internal import CFaceNet
internal import Imaging

/// A face cut out of a photo, upright and at a fixed scale: 112 by 112 pixels, RGB.
struct AlignedFace {
    static let side = Int(HG_FACE_SIDE)

    let pixels: [UInt8]

    /// Creates a face from its pixels.
    init(pixels: [UInt8]) {
        precondition(pixels.count == Self.side * Self.side * 3, "an aligned face has a fixed size")
        self.pixels = pixels
    }

    /// Cuts a face out; nil when its landmarks are in one place.
    init?(_ image: RGBImage, _ landmarks: FaceLandmarks) {
        var pixels = [UInt8](repeating: 0, count: Self.side * Self.side * 3)
        func point(_ place: (x: Double, y: Double)) -> hg_point { hg_point(x: Float(place.x), y: Float(place.y)) }
        let done = image.withPicture {
            hg_face_align($0, point(landmarks.leftEye), point(landmarks.rightEye), point(landmarks.nose), &pixels)
        }
        guard done != 0 else { return nil }
        self.pixels = pixels
    }

    /// The measures by which its quality is judged.
    var measures: FaceMeasures {
        var measures = hg_face_measures()
        hg_face_measure(pixels, &measures)
        return FaceMeasures(
            mean: measures.mean, deviation: measures.deviation, sharpness: measures.sharpness, saturated: measures.saturated)
    }

    /// Mean red, green and blue of its middle, 0 to 255.
    var colour: SIMD3<Double> {
        let middle = (Self.side / 4)..<(Self.side - Self.side / 4)
        var sum = SIMD3<Double>()
        for y in middle {
            for x in middle {
                let index = (y * Self.side + x) * 3
                sum += SIMD3(Double(pixels[index]), Double(pixels[index + 1]), Double(pixels[index + 2]))
            }
        }
        return sum / Double(middle.count * middle.count)
    }

    /// The small grey picture from which copies are recognised.
    var signature: FaceSignature {
        var levels = [Float](repeating: 0, count: FaceSignature.side * FaceSignature.side)
        hg_face_signature(pixels, &levels)
        return FaceSignature(levels: levels)
    }
}
