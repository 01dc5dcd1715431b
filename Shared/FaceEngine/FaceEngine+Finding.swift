internal import CFaceNet
internal import Imaging

/// A photo with the faces that were found in it, turned so that they are upright.
struct ScannedPhoto {
    let image: RGBImage
    /// The same with ``FaceEngine/scanSide`` as its longer side.
    let reduced: RGBImage
    let faces: [FaceBox]
}

extension FaceEngine {
    /// Longer side of the picture in which faces are found, in pixels. YuNet finds faces of 10 pixels and more, and faces that fill the
    /// picture. At twice the side it misses a sixth of the faces that fill nine tenths of the picture (docs/MODELCARD.md).
    static let scanSide = 320
    /// Longer side at the second look, in a picture with stretched levels. It finds faces in noise and in the dark, so that a photo is
    /// refused with the right reason.
    private static let secondScanSide = 160
    /// Minimum score of a face. YuNet's own default, 0.9, misses a fifth of grey studio photos.
    private static let minScore: Float = 0.7
    /// Score from which a face is upright without a comparison with the other turns. YuNet also finds most faces that are upside down, and
    /// takes the mouth for the eyes: of 1,896 turned photos none has a higher score than 0.914 (docs/MODELCARD.md).
    private static let uprightScore: Float = 0.92
    /// Overlap, as a share of the union, from which two faces are one.
    private static let maxOverlap: Float = 0.3
    /// Maximum number of faces that are told apart.
    private static let maxFaces = 16

    /// The faces of one look at a picture, in pixels of this picture.
    private struct Look {
        let faces: [FaceBox]
        /// The score of the most certain face; 0 without one.
        let bestScore: Float
    }

    /// Finds the faces of a photo. If none is certainly upright, the photo is turned to where its most certain face is: phones do not
    /// always write into EXIF how they were held. A photo without a face takes four looks of 2 ms and four of 0.5 ms.
    ///
    /// - Parameter mayTurn: False for a picture that is known to be upright.
    func scan(_ image: RGBImage, mayTurn: Bool = true) throws(FaceEngineError) -> ScannedPhoto {
        let reduced = try image.reduced(to: Self.scanSide)
        if let found = try scan(image, reduced, in: reduced, mayTurn: mayTurn) { return found }
        let enhanced = try reduced.reduced(to: Self.secondScanSide).withStretchedLevels
        return try scan(image, reduced, in: enhanced, mayTurn: mayTurn) ?? ScannedPhoto(image: image, reduced: reduced, faces: [])
    }

    /// Finds the faces of a photo in a version of it made smaller; nil without any.
    private func scan(
        _ image: RGBImage, _ reduced: RGBImage, in picture: RGBImage, mayTurn: Bool
    ) throws(FaceEngineError) -> ScannedPhoto? {
        var (quarters, best) = (0, try look(at: picture))
        if mayTurn, best.bestScore < Self.uprightScore {
            for turn in 1...3 {
                let look = try look(at: picture.turned(quarters: turn))
                if look.bestScore > best.bestScore { (quarters, best) = (turn, look) }
            }
        }
        guard !best.faces.isEmpty else { return nil }
        let (scale, turned) = (Double(image.longSide) / Double(picture.longSide), image.turned(quarters: quarters))
        // Reduced anew, so that a copy that was only turned has the reduced picture of the original to the bit.
        return ScannedPhoto(
            image: turned, reduced: quarters == 0 ? reduced : try turned.reduced(to: Self.scanSide),
            faces: best.faces.map { $0.scaled(by: scale) })
    }

    private func look(at picture: RGBImage) throws(FaceEngineError) -> Look {
        beforeStep?()
        var found = [hg_candidate](repeating: hg_candidate(), count: Self.maxFaces)
        var count: Int32 = 0
        let done = picture.withPicture {
            hg_detector_find(networks.detector, scratch, $0, Self.minScore, Self.maxOverlap, &found, Int32(Self.maxFaces), &count)
        }
        guard done != 0 else { throw FaceEngineError(.failed, "no memory for the detector") }
        // The most certain face is the first.
        return Look(faces: found.prefix(Int(count)).map { FaceBox($0) }, bestScore: count > 0 ? found[0].score : 0)
    }
}
