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
            case .unsupported: return .unreadable(.unsupportedFormat)
            case .tooLarge: return .unreadable(.tooLarge)
            case .corrupt: return .unreadable(.corrupt)
            case .tooSmall: return .unreadable(.faceTooSmall)
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
        guard !photo.faces.isEmpty else { return .rejected(PhotoFaults(.noFace)) }
        guard let box = FaceBox.dominant(photo.faces, width: photo.image.width, height: photo.image.height) else {
            return .rejected(PhotoFaults(.multipleFaces))
        }
        beforeStep?()
        let landmarks = FaceLandmarks(networks.landmarks, box, in: photo.image)
        let (pose, face) = (HeadPose(landmarks), AlignedFace(photo.image, landmarks))
        let faults = PhotoGates(for: purpose).faults(of: box, pose, face, in: photo.image, originalScale: originalScale)
        if let first = faults.first {
            // The landmarks of a face that is cut off, of a few pixels or in bad light are guesses: in the dark a head seems less turned.
            let isMeasured = faults.allSatisfy { $0 == .headTilted || $0 == .tooBlurry }
            return .rejected(PhotoFaults(first, Array(faults.dropFirst()), yaw: isMeasured ? pose.yaw : nil))
        }
        guard let face else { return .rejected(PhotoFaults(.noFace)) }
        beforeStep?()
        let descriptor = FaceDescriptor(normalising: try networks.describe(face, with: scratch))
        let presentation = FacePresentation(
            box, pose, face, in: photo.image, reduced: try photo.reduced.reduced(to: Self.backgroundSide))
        return .usable(
            FaceObservation(
                yaw: pose.yaw, roll: pose.roll, descriptor: descriptor, signature: face.signature,
                mirrorSignature: purpose == .signIn ? try mirrorSignature(of: photo.image) : nil, presentation: presentation))
    }
}
