internal import CDlib
public import Imaging

/// Finds the face in a photo and describes it.
///
/// All functions **block** and compute (some 30 ms a photo). An engine is not sendable, because only one thread may use it
/// at a time; ``FaceEnginePool`` gives every thread its own.
public final class FaceEngine {
    /// Maximum longer side of the working picture, in pixels.
    static let workingSide = 800
    /// The scales of the detection, by the longer side in pixels, tried until a face is found: a selfie is found at the first,
    /// at a twentieth of the cost of the original size.
    private static let scanSides = [320, 480, 800]
    /// Margin, as a share of the photo, with which a face that fills the photo is found.
    private static let marginForLargeFaces = 0.25
    /// The scale at which bystanders are detected.
    private static let bystanderScanSide = 480
    /// Maximum number of faces that are detected.
    private static let maxFaces = 16

    private let handle: OpaquePointer
    private let decoder: ImageDecoder
    /// Called before each step of an analysis. It may analyse another photo with this engine, which keeps no state between steps.
    var beforeStep: (() -> Void)?

    /// Creates an engine, which takes some 0.3 s.
    ///
    /// - Parameter decoder: Decodes the photos.
    /// - Throws: ``FaceEngineError`` with `badModel`.
    public init(models: FaceModels, decoder: ImageDecoder) throws(FaceEngineError) {
        var failure = hg_error()
        let made = models.predictor.withUnsafeBytes { predictor in
            models.network.withUnsafeBytes { network in
                hg_face_engine_create(
                    predictor.baseAddress, predictor.count, network.baseAddress, network.count, &failure)
            }
        }
        guard let made else { throw FaceEngineError(.badModel, "a model cannot be loaded: \(text(of: failure))") }
        handle = made
        self.decoder = decoder
    }

    /// Copies an engine, for another thread; takes some 25 ms.
    ///
    /// - Throws: ``FaceEngineError`` with `failed`.
    public init(copying other: FaceEngine) throws(FaceEngineError) {
        var failure = hg_error()
        guard let made = hg_face_engine_copy(other.handle, &failure) else {
            throw FaceEngineError(.failed, "the engine cannot be copied: \(text(of: failure))")
        }
        handle = made
        decoder = other.decoder
    }

    deinit { hg_face_engine_destroy(handle) }

    /// Decodes and analyses a photo.
    ///
    /// - Throws: ``FaceEngineError`` with `failed`; a bad photo is a result, not an error.
    public func analyse(_ photo: [UInt8], for purpose: PhotoPurpose) throws(FaceEngineError) -> PhotoAnalysis {
        try examine(photo, for: purpose).analysis
    }

    /// Decodes and analyses a photo, and computes the digest of its picture.
    ///
    /// - Throws: ``FaceEngineError`` with `failed`; a bad photo is a result, not an error.
    public func examine(_ photo: [UInt8], for purpose: PhotoPurpose) throws(FaceEngineError) -> AnalysedPhoto {
        let decoded: ImageDecoder.Decoded
        do {
            decoded = try decoder.decodeUpright(
                photo, maxSide: Self.workingSide, minSide: PhotoGates.minPictureSide)
        } catch {
            switch error.code {
            case .unsupported: return AnalysedPhoto(analysis: .rejected(.unsupportedFormat), pixelDigest: nil)
            case .tooLarge: return AnalysedPhoto(analysis: .rejected(.tooLarge), pixelDigest: nil)
            case .corrupt: return AnalysedPhoto(analysis: .rejected(.corrupt), pixelDigest: nil)
            case .unavailable, .invalidSize, .cancelled: throw FaceEngineError(.failed, error.message)
            }
        }
        let scale = Double(max(decoded.originalWidth, decoded.originalHeight)) / Double(decoded.image.longSide)
        return AnalysedPhoto(
            analysis: try analyse(decoded.image, originalScale: scale, for: purpose), pixelDigest: decoded.image.digest)
    }

    /// Analyses a decoded photo.
    ///
    /// - Parameter originalScale: The size of the original photo divided by that of `image`.
    /// - Throws: ``FaceEngineError`` with `failed`.
    public func analyse(
        _ image: RGBImage, originalScale: Double, for purpose: PhotoPurpose
    ) throws(FaceEngineError) -> PhotoAnalysis {
        let gates = PhotoGates(for: purpose)
        return try image.pixels.withUnsafeBufferPointer { pixels throws(FaceEngineError) in
            let picture = hg_picture(pixels: pixels.baseAddress, width: Int32(image.width), height: Int32(image.height))
            let boxes = try faces(in: picture, gates: gates)
            guard !boxes.isEmpty else { return .rejected(.noFace) }
            guard let box = FaceBox.dominant(boxes, width: image.width, height: image.height) else {
                return .rejected(.multipleFaces)
            }
            guard box.width >= gates.minFaceSide else { return .rejected(.faceTooSmall) }
            guard box.cutOff(width: image.width, height: image.height) <= PhotoGates.maxCutOff else {
                return .rejected(.faceCutOff)
            }
            return try describe(box, in: picture, originalScale: originalScale, gates: gates)
        }
    }

    /// Returns the network's 128 numbers for a face chip, not normalised.
    func rawDescriptor(ofChip chip: [UInt8]) throws(FaceEngineError) -> [Float] {
        precondition(chip.count == Int(HG_CHIP_SIDE * HG_CHIP_SIDE * 3), "a chip has a fixed size")
        beforeStep?()
        var values = [Float](repeating: 0, count: FaceDescriptor.count)
        var failure = hg_error()
        guard hg_face_describe(handle, chip, &values, &failure) != 0 else {
            throw FaceEngineError(.failed, "the network failed: \(text(of: failure))")
        }
        return values
    }

    // MARK: Steps

    private func faces(in picture: hg_picture, gates: PhotoGates) throws(FaceEngineError) -> [FaceBox] {
        for side in Self.scanSides {
            let found = try scan(picture, side: side, padding: 0)
            guard !found.isEmpty else { continue }
            guard gates.looksForBystanders, side < Self.bystanderScanSide, found.count == 1 else { return found }
            // The first scale is too coarse to detect a small person in the background.
            let closer = try scan(picture, side: Self.bystanderScanSide, padding: 0)
            return closer.count > 1 ? closer : found
        }
        return try scan(picture, side: Self.scanSides[0], padding: Self.marginForLargeFaces)
    }

    private func scan(_ picture: hg_picture, side: Int, padding: Double) throws(FaceEngineError) -> [FaceBox] {
        beforeStep?()
        var boxes = [hg_face_box](repeating: hg_face_box(), count: Self.maxFaces)
        var (count, failure) = (Int32(0), hg_error())
        guard
            hg_face_detect(handle, picture, Int32(side), padding, &boxes, Int32(Self.maxFaces), &count, &failure) != 0
        else { throw FaceEngineError(.failed, "the detector failed: \(text(of: failure))") }
        return boxes.prefix(Int(count)).map {
            FaceBox(left: $0.left, top: $0.top, right: $0.right, bottom: $0.bottom)
        }
    }

    private func describe(
        _ box: FaceBox, in picture: hg_picture, originalScale: Double, gates: PhotoGates
    ) throws(FaceEngineError) -> PhotoAnalysis {
        beforeStep?()
        var (marks, failure) = (hg_landmarks(), hg_error())
        let cBox = hg_face_box(left: box.left, top: box.top, right: box.right, bottom: box.bottom, score: 0)
        guard hg_face_landmarks(handle, picture, cBox, &marks, &failure) != 0 else {
            throw FaceEngineError(.failed, "the landmark predictor failed: \(text(of: failure))")
        }
        let pose = HeadPose(marks)
        guard abs(pose.roll) <= gates.maxRoll else { return .rejected(.headTilted) }
        guard pose.eyeDistance * originalScale >= gates.minEyeDistance else { return .rejected(.faceTooSmall) }

        var chip = [UInt8](repeating: 0, count: Int(HG_CHIP_SIDE * HG_CHIP_SIDE * 3))
        guard hg_face_chip(picture, &marks, &chip, &failure) != 0 else {
            throw FaceEngineError(.failed, "the face cannot be cut out: \(text(of: failure))")
        }
        var measures = hg_chip_measures()
        hg_chip_measure(chip, &measures)
        if let fault = gates.fault(in: ChipMeasures(measures)) { return .rejected(fault) }

        var levels = [Float](repeating: 0, count: FaceSignature.side * FaceSignature.side)
        hg_chip_signature(chip, &levels)
        let descriptor = FaceDescriptor(normalising: try rawDescriptor(ofChip: chip))
        return .usable(
            FaceObservation(
                yaw: pose.yaw, roll: pose.roll, descriptor: descriptor, signature: FaceSignature(levels: levels)))
    }
}

extension HeadPose {
    fileprivate init(_ marks: hg_landmarks) {
        self.init(
            leftEye: (
                (marks.left_eye_outer_x + marks.left_eye_inner_x) / 2,
                (marks.left_eye_outer_y + marks.left_eye_inner_y) / 2
            ),
            rightEye: (
                (marks.right_eye_outer_x + marks.right_eye_inner_x) / 2,
                (marks.right_eye_outer_y + marks.right_eye_inner_y) / 2
            ),
            nose: (marks.nose_x, marks.nose_y))
    }
}

extension ChipMeasures {
    fileprivate init(_ measures: hg_chip_measures) {
        self.init(
            mean: measures.mean, deviation: measures.deviation, sharpness: measures.sharpness, saturated: measures.saturated)
    }
}

/// Returns the message of a failure, which the shim always terminates with a zero byte.
private func text(of failure: hg_error) -> String {
    withUnsafeBytes(of: failure.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
