internal import CFaceNet
internal import ImageProbe
public import Imaging

/// Finds the face in a photo and describes it.
///
/// All functions **block** and compute (some 20 ms a photo). An engine is not sendable, because only one thread may use its working memory
/// at a time; ``FaceEnginePool`` gives every thread its own.
public final class FaceEngine {
    /// Maximum longer side of the working picture, in pixels.
    static let workingSide = 800
    /// Longer side of the picture in which the background is described, in pixels.
    private static let backgroundSide = 80

    let networks: FaceNetworks
    let scratch: OpaquePointer
    private let decoder: ImageDecoder
    /// Called before each step of an analysis. It may analyse another photo with this engine, which keeps no state between steps.
    var beforeStep: (() -> Void)?
    /// The time that analyses with this engine were interrupted for others, all together.
    var interruptedTime = Duration.zero

    /// Creates an engine for one thread.
    ///
    /// - Parameters:
    ///   - networks: The models, which all engines share.
    ///   - decoder: Decodes the photos.
    init(_ networks: FaceNetworks, decoder: ImageDecoder) {
        guard let scratch = hg_scratch_create() else { preconditionFailure("no memory for an engine") }
        (self.networks, self.scratch, self.decoder) = (networks, scratch, decoder)
    }

    deinit { hg_scratch_destroy(scratch) }

    /// Runs work and measures its time, without the time of interruptions.
    func timed<Value>(_ work: () throws(FaceEngineError) -> Value) throws(FaceEngineError) -> (Value, Duration) {
        let (start, interrupted) = (ContinuousClock.now, interruptedTime)
        let value = try work()
        return (value, ContinuousClock.now - start - (interruptedTime - interrupted))
    }

    /// Decodes and analyses a photo.
    ///
    /// - Throws: ``FaceEngineError`` with `failed`; a bad photo is a result, not an error.
    public func analyse(_ photo: [UInt8], for purpose: PhotoPurpose) throws(FaceEngineError) -> PhotoAnalysis {
        try examine(photo, for: purpose).analysis
    }

    /// Decodes and analyses a photo, and computes the digest of its picture.
    ///
    /// - Parameter decoding: The scheduling priority of the decoder.
    /// - Throws: ``FaceEngineError`` with `failed`; a bad photo is a result, not an error.
    public func examine(
        _ photo: [UInt8], for purpose: PhotoPurpose, decoding: DecoderPriority = .ordinary
    ) throws(FaceEngineError) -> AnalysedPhoto {
        let decoded: ImageDecoder.Decoded
        do {
            decoded = try decoder.decodeUpright(
                photo, maxSide: Self.workingSide, minSide: PhotoGates.minPictureSide, limits: .face, priority: decoding)
        } catch {
            switch error.code {
            case .unsupported: return AnalysedPhoto(analysis: .rejected(.unsupportedFormat), pixelDigest: nil)
            case .tooLarge: return AnalysedPhoto(analysis: .rejected(.tooLarge), pixelDigest: nil)
            case .corrupt: return AnalysedPhoto(analysis: .rejected(.corrupt), pixelDigest: nil)
            case .tooSmall: return AnalysedPhoto(analysis: .rejected(.faceTooSmall), pixelDigest: nil)
            case .unavailable, .invalidSize, .cancelled: throw FaceEngineError(.failed, error.message)
            }
        }
        let scale = Double(max(decoded.originalWidth, decoded.originalHeight)) / Double(decoded.image.longSide)
        let photo = try scan(decoded.image)
        // The picture made smaller says as well which picture it is, at a fifth of the cost of the whole.
        return AnalysedPhoto(analysis: try analyse(photo, originalScale: scale, for: purpose), pixelDigest: photo.reduced.digest)
    }

    /// Analyses a decoded photo.
    ///
    /// - Parameter originalScale: The size of the original photo divided by that of `image`.
    /// - Throws: ``FaceEngineError`` with `failed`.
    public func analyse(
        _ image: RGBImage, originalScale: Double, for purpose: PhotoPurpose
    ) throws(FaceEngineError) -> PhotoAnalysis {
        try analyse(try scan(image), originalScale: originalScale, for: purpose)
    }

    private func analyse(
        _ photo: ScannedPhoto, originalScale: Double, for purpose: PhotoPurpose
    ) throws(FaceEngineError) -> PhotoAnalysis {
        let (image, gates) = (photo.image, PhotoGates(for: purpose))
        guard !photo.faces.isEmpty else { return .rejected(.noFace) }
        guard let box = FaceBox.dominant(photo.faces, width: image.width, height: image.height) else {
            return .rejected(.multipleFaces)
        }
        guard box.width >= gates.minFaceSide else { return .rejected(.faceTooSmall) }
        guard box.cutOff(width: image.width, height: image.height) <= PhotoGates.maxCutOff else {
            return .rejected(.faceCutOff)
        }
        let analysis = try describe(box, in: photo, originalScale: originalScale, gates: gates)
        guard purpose == .signIn, case .usable(var observation) = analysis else { return analysis }
        observation.mirrorSignature = try mirrorSignature(of: image)
        return .usable(observation)
    }

    private func describe(
        _ box: FaceBox, in photo: ScannedPhoto, originalScale: Double, gates: PhotoGates
    ) throws(FaceEngineError) -> PhotoAnalysis {
        beforeStep?()
        let landmarks = FaceLandmarks(networks.landmarks, box, in: photo.image)
        let pose = HeadPose(landmarks)
        guard abs(pose.roll) <= gates.maxRoll else { return .rejected(.headTilted) }
        guard pose.eyeDistance * originalScale >= gates.minEyeDistance else { return .rejected(.faceTooSmall) }
        guard let face = AlignedFace(photo.image, landmarks) else { return .rejected(.noFace) }
        if let fault = gates.fault(in: face.measures) { return .rejected(fault) }
        beforeStep?()
        let descriptor = FaceDescriptor(normalising: try networks.describe(face, with: scratch))
        let presentation = FacePresentation(
            box, pose, face, in: photo.image, reduced: try photo.reduced.reduced(to: Self.backgroundSide))
        return .usable(
            FaceObservation(
                yaw: pose.yaw, roll: pose.roll, descriptor: descriptor, signature: face.signature, presentation: presentation))
    }
}
