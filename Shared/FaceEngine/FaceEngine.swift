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
    /// Longer side of the picture in which faces are found, in pixels. YuNet finds faces of 10 pixels and more, and faces that fill the
    /// picture. At twice the side it misses a sixth of the faces that fill nine tenths of the picture (docs/MODELCARD.md).
    static let scanSide = 320
    /// Longer side at the second look, in a picture with stretched levels. It finds faces in noise and in the dark, so that a photo is
    /// refused with the right reason.
    private static let secondScanSide = 160
    /// Longer side of the picture in which the background is described, in pixels.
    private static let backgroundSide = 80
    /// Minimum score of a face. YuNet's own default, 0.9, misses a fifth of grey studio photos.
    private static let minScore: Float = 0.7
    /// Overlap, as a share of the union, from which two faces are one.
    private static let maxOverlap: Float = 0.3
    /// Maximum number of faces that are told apart.
    private static let maxFaces = 16

    let networks: FaceNetworks
    private let scratch: OpaquePointer
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
        // The picture made smaller says as well which picture it is, at a fifth of the cost of the whole.
        let reduced = try decoded.image.reduced(to: Self.scanSide)
        return AnalysedPhoto(
            analysis: try analyse(decoded.image, reduced, originalScale: scale, for: purpose), pixelDigest: reduced.digest)
    }

    /// Analyses a decoded photo.
    ///
    /// - Parameter originalScale: The size of the original photo divided by that of `image`.
    /// - Throws: ``FaceEngineError`` with `failed`.
    public func analyse(
        _ image: RGBImage, originalScale: Double, for purpose: PhotoPurpose
    ) throws(FaceEngineError) -> PhotoAnalysis {
        try analyse(image, try image.reduced(to: Self.scanSide), originalScale: originalScale, for: purpose)
    }

    private func analyse(
        _ image: RGBImage, _ reduced: RGBImage, originalScale: Double, for purpose: PhotoPurpose
    ) throws(FaceEngineError) -> PhotoAnalysis {
        let gates = PhotoGates(for: purpose)
        let found = try faces(in: image, reduced)
        guard !found.isEmpty else { return .rejected(.noFace) }
        guard let box = FaceBox.dominant(found, width: image.width, height: image.height) else {
            return .rejected(.multipleFaces)
        }
        guard box.width >= gates.minFaceSide else { return .rejected(.faceTooSmall) }
        guard box.cutOff(width: image.width, height: image.height) <= PhotoGates.maxCutOff else {
            return .rejected(.faceCutOff)
        }
        let analysis = try describe(box, in: image, reduced, originalScale: originalScale, gates: gates)
        guard purpose == .signIn, case .usable(var observation) = analysis else { return analysis }
        observation.mirrorSignature = try mirrorSignature(of: image)
        return .usable(observation)
    }

    // MARK: Steps

    func faces(in image: RGBImage, _ reduced: RGBImage) throws(FaceEngineError) -> [FaceBox] {
        let found = try scan(image, reduced)
        guard found.isEmpty else { return found }
        return try scan(image, try reduced.reduced(to: Self.secondScanSide).withStretchedLevels)
    }

    /// Finds the faces of a picture in a version of it made smaller.
    private func scan(_ image: RGBImage, _ reduced: RGBImage) throws(FaceEngineError) -> [FaceBox] {
        beforeStep?()
        var found = [hg_candidate](repeating: hg_candidate(), count: Self.maxFaces)
        var count: Int32 = 0
        let done = reduced.withPicture {
            hg_detector_find(networks.detector, scratch, $0, Self.minScore, Self.maxOverlap, &found, Int32(Self.maxFaces), &count)
        }
        guard done != 0 else { throw FaceEngineError(.failed, "no memory for the detector") }
        let scale = Double(image.longSide) / Double(reduced.longSide)
        return found.prefix(Int(count)).map { FaceBox($0).scaled(by: scale) }
    }

    private func describe(
        _ box: FaceBox, in image: RGBImage, _ reduced: RGBImage, originalScale: Double, gates: PhotoGates
    ) throws(FaceEngineError) -> PhotoAnalysis {
        beforeStep?()
        let landmarks = FaceLandmarks(networks.landmarks, box, in: image)
        let pose = HeadPose(landmarks)
        guard abs(pose.roll) <= gates.maxRoll else { return .rejected(.headTilted) }
        guard pose.eyeDistance * originalScale >= gates.minEyeDistance else { return .rejected(.faceTooSmall) }
        guard let face = AlignedFace(image, landmarks) else { return .rejected(.noFace) }
        if let fault = gates.fault(in: face.measures) { return .rejected(fault) }
        beforeStep?()
        let descriptor = FaceDescriptor(normalising: try networks.describe(face, with: scratch))
        let presentation = FacePresentation(box, pose, face, in: image, reduced: try reduced.reduced(to: Self.backgroundSide))
        return .usable(
            FaceObservation(
                yaw: pose.yaw, roll: pose.roll, descriptor: descriptor, signature: face.signature, presentation: presentation))
    }
}
