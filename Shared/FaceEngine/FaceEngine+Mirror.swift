internal import Imaging

extension FaceEngine {
    /// Returns the signature of the mirror image of a photo; nil when it shows no face that can be aligned. If the photo is the mirrored
    /// copy of another one, this is the signature of that one.
    ///
    /// The mirror image is analysed as a photo of its own. The detector and the landmarks are not symmetric: mirroring the photo's
    /// signature itself gives a result that differs as much as the signature of another photo.
    func mirrorSignature(of image: RGBImage) throws(FaceEngineError) -> FaceSignature? {
        let mirrored = image.mirrored
        let faces = try scan(mirrored, mayTurn: false).faces
        guard let box = FaceBox.dominant(faces, width: mirrored.width, height: mirrored.height) else { return nil }
        beforeStep?()
        return AlignedFace(mirrored, FaceLandmarks(networks.landmarks, box, in: mirrored))?.signature
    }
}
