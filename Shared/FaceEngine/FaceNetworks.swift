internal import CFaceNet

/// An instruction set for which the kernels of the networks are compiled.
enum InstructionSet: CaseIterable {
    /// Vectors of four floats, which every processor has.
    case portable
    case avx2
    case avx512
    /// AVX-512, and 8-bit products in the recogniser.
    case vnni

    /// Whether it rounds descriptors: 8-bit products do.
    var isRounding: Bool { self == .vnni }

    /// The paths that this processor supports, the fastest last.
    static var available: [InstructionSet] { allCases.filter { hg_path_available($0.path) != 0 } }

    /// The fastest of this processor.
    static var fastest: InstructionSet { available.last ?? .portable }

    fileprivate var path: hg_path {
        switch self {
        case .portable: HG_PATH_PORTABLE
        case .avx2: HG_PATH_AVX2
        case .avx512: HG_PATH_AVX512
        case .vnni: HG_PATH_VNNI
        }
    }
}

/// The loaded models: the detector YuNet, dlib's landmark model of five points, and the recogniser SFace.
///
/// Sendable is unchecked because the handles are pointers. The memory behind them does not change after loading, and any number of threads
/// may read it (CFaceNet.h).
final class FaceNetworks: @unchecked Sendable {
    let detector: OpaquePointer
    let landmarks: OpaquePointer
    let recogniser: OpaquePointer

    /// Loads the models for an instruction set, which takes some 30 ms and 40 MB.
    ///
    /// - Throws: ``FaceEngineError`` with `badModel`.
    init(_ models: FaceModels, for set: InstructionSet) throws(FaceEngineError) {
        var fault = HG_MODEL_OK
        let detector = models.detector.withUnsafeBytes { hg_detector_load($0.baseAddress, $0.count, set.path, &fault) }
        guard let detector else { throw Self.failure("face detector", fault) }
        let landmarks = models.landmarks.withUnsafeBytes { hg_landmarks_load($0.baseAddress, $0.count, &fault) }
        guard let landmarks else {
            hg_detector_destroy(detector)
            throw Self.failure("landmark model", fault)
        }
        let recogniser = models.recogniser.withUnsafeBytes { hg_recogniser_load($0.baseAddress, $0.count, set.path, &fault) }
        guard let recogniser else {
            hg_detector_destroy(detector)
            hg_landmarks_destroy(landmarks)
            throw Self.failure("face recogniser", fault)
        }
        (self.detector, self.landmarks, self.recogniser) = (detector, landmarks, recogniser)
    }

    deinit {
        hg_detector_destroy(detector)
        hg_landmarks_destroy(landmarks)
        hg_recogniser_destroy(recogniser)
    }

    /// Returns the recogniser's 128 numbers for a face, not normalised, with working memory of its own.
    func describe(_ face: AlignedFace) throws(FaceEngineError) -> [Float] {
        guard let scratch = hg_scratch_create() else { preconditionFailure("no memory for the recogniser") }
        defer { hg_scratch_destroy(scratch) }
        return try describe(face, with: scratch)
    }

    /// Returns the recogniser's 128 numbers for a face, not normalised.
    func describe(_ face: AlignedFace, with scratch: OpaquePointer) throws(FaceEngineError) -> [Float] {
        var values = [Float](repeating: 0, count: FaceDescriptor.count)
        guard hg_recogniser_describe(recogniser, scratch, face.pixels, &values) != 0 else {
            throw FaceEngineError(.failed, "no memory for the recogniser")
        }
        return values
    }

    private static func failure(_ name: String, _ fault: hg_model_fault) -> FaceEngineError {
        FaceEngineError(.badModel, "the \(name) cannot be loaded (fault \(fault.rawValue) of CFaceNet.h)")
    }
}
