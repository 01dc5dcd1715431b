internal import HeliographCrypto

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The bytes of the two model files, checked against the digests with which this version was calibrated.
public struct FaceModels: Sendable {
    /// A model file, by name and SHA-256 in hexadecimal.
    private struct File {
        let name: String
        let digest: String
    }

    private static let predictorFile = File(
        name: "shape_predictor_5_face_landmarks.dat",
        digest: "c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888")
    private static let networkFile = File(
        name: "dlib_face_recognition_resnet_model_v1.dat",
        digest: "55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30")
    /// Maximum size of a model file in bytes; both files are smaller.
    private static let maxFileBytes = 32 * 1024 * 1024

    /// Identifies the face network in stored templates, because descriptors of different networks cannot be compared.
    public static let modelID = String(networkFile.digest.prefix(16))

    let predictor: [UInt8]
    let network: [UInt8]

    /// Reads and checks the files. Blocks for some 50 ms.
    ///
    /// - Throws: ``FaceEngineError`` with `badModel`.
    public init(directory: String) throws(FaceEngineError) {
        predictor = try Self.read(Self.predictorFile, in: directory)
        network = try Self.read(Self.networkFile, in: directory)
    }

    private static func read(_ file: File, in directory: String) throws(FaceEngineError) -> [UInt8] {
        let path = directory + "/" + file.name
        guard let handle = fopen(path, "rb") else {
            throw FaceEngineError(
                .badModel,
                "\(path) cannot be read; FACE_MODELS_PATH must name the directory that deploy/local/fetch-models.sh fills")
        }
        defer { fclose(handle) }
        let bytes = [UInt8](unsafeUninitializedCapacity: maxFileBytes) { buffer, count in
            count = fread(buffer.baseAddress, 1, buffer.count, handle)
        }
        guard Hex.encode(SHA256.hash(bytes)) == file.digest else {
            throw FaceEngineError(.badModel, "\(path) is not the expected file: its SHA-256 differs from \(file.digest)")
        }
        return bytes
    }
}
