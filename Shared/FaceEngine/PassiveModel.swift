internal import CFaceNet
internal import HeliographCrypto
internal import Imaging

/// A network that judges from one photo whether it shows a live face. The operator supplies it as a file that
/// `deploy/local/convert-passive-model.py` has written.
///
/// Sendable is unchecked because the handle is a pointer. What it points to does not change after loading, and any number of threads may
/// read it (CFaceNet.h).
public final class PassiveModel: @unchecked Sendable {
    /// Maximum size of the file in bytes.
    static let maxFileBytes = 64 * 1024 * 1024
    /// Maximum deviation from the results in the file, in parts of them. Paths of the processor differ by 5e-6.
    static let maxDeviation: Float = 1e-3

    private let handle: OpaquePointer
    /// The SHA-256 of the file in hexadecimal.
    public let digest: String
    /// The SHA-256 of the network that was converted, in hexadecimal: its version.
    public let sourceDigest: String
    /// The least score of a live face.
    public let threshold: Float

    /// Reads a file, checks it, and compares the results for its test picture with those that it holds. Blocks for some 10 ms.
    ///
    /// - Throws: ``FaceEngineError`` with `badModel` or `selfCheckFailed`.
    public convenience init(path: String) throws(FaceEngineError) {
        guard let bytes = ModelFile.read(path, limit: Self.maxFileBytes) else {
            throw FaceEngineError(.badModel, "\(path) cannot be read")
        }
        try self.init(bytes, name: path, for: .fastest)
    }

    init(_ bytes: [UInt8], name: String, for set: InstructionSet) throws(FaceEngineError) {
        var fault = HG_MODEL_OK
        let loaded = bytes.withUnsafeBytes { hg_passive_load($0.baseAddress, $0.count, set.path, &fault) }
        guard let loaded else { throw FaceEngineError(.badModel, "\(name) \(Self.description(of: fault))") }
        handle = loaded
        digest = Hex.encode(SHA256.hash(bytes))
        sourceDigest = Hex.encode(bytes[16..<48])
        threshold = hg_passive_describe(loaded).threshold
        let deviation = try deviation()
        // Written so that a number that is none fails.
        guard deviation <= Self.maxDeviation else {
            throw FaceEngineError(
                .selfCheckFailed,
                "the results of \(name) for its test picture are off by \(deviation): it was converted wrongly, or the processor is faulty")
        }
    }

    deinit { hg_passive_destroy(handle) }

    /// Returns the score of a face, whose box the detector has found.
    func score(_ outline: FaceBox, in image: RGBImage, with scratch: OpaquePointer) throws(FaceEngineError) -> Float {
        let box = hg_box(
            left: Float(outline.left), top: Float(outline.top), width: Float(outline.width), height: Float(outline.height))
        var score: Float = 0
        let done = image.withPicture { hg_passive_score(handle, scratch, $0, box, &score) }
        guard done != 0 else { throw FaceEngineError(.failed, "no memory for the passive model, or a face without a size") }
        return score
    }

    /// Returns the numbers of the last layer for a picture of the network's size.
    func results(_ picture: [UInt8]) throws(FaceEngineError) -> [Float] {
        let facts = hg_passive_describe(handle)
        precondition(picture.count == Int(facts.width) * Int(facts.height) * 3, "a picture has the size of the network's input")
        var results = [Float](repeating: 0, count: Int(facts.classes))
        let done = try withScratch { hg_passive_run(handle, $0, picture, &results) }
        guard done != 0 else { throw FaceEngineError(.failed, "no memory for the passive model") }
        return results
    }

    private func deviation() throws(FaceEngineError) -> Float {
        var deviation: Float = 0
        let done = try withScratch { hg_passive_check(handle, $0, &deviation) }
        guard done != 0 else { throw FaceEngineError(.failed, "no memory for the passive model") }
        return deviation
    }

    private func withScratch<Result>(_ body: (OpaquePointer) -> Result) throws(FaceEngineError) -> Result {
        guard let scratch = hg_scratch_create() else { throw FaceEngineError(.failed, "no memory for the passive model") }
        defer { hg_scratch_destroy(scratch) }
        return body(scratch)
    }

    private static func description(of fault: hg_model_fault) -> String {
        switch fault {
        case HG_MODEL_WRONG_MAGIC: "is no model file: convert the ONNX file first"
        case HG_MODEL_WRONG_VERSION: "is of another version: convert the ONNX file again"
        case HG_MODEL_WRONG_KIND: "is another model"
        case HG_MODEL_WRONG_SIZE, HG_MODEL_DAMAGED: "is damaged, its size or its checksum is wrong: copy or convert it again"
        case HG_MODEL_INCONSISTENT: "has a list of layers that fits no network, or exceeds a limit: convert the ONNX file again"
        default: "cannot be loaded (fault \(fault.rawValue) of CFaceNet.h)"
        }
    }
}
