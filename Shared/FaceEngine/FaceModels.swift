internal import HeliographCrypto

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The bytes of the three model files, checked against the digests with which this version was calibrated.
public struct FaceModels: Sendable {
    /// A model file, by name and SHA-256 in hexadecimal.
    private struct File {
        let name: String
        let digest: String
    }

    private static let detectorFile = File(
        name: "face-detector.hgm", digest: "b01534731e19efbbffa615d4009d1111bd118e29ebe34e42b811bbe056e6957c")
    private static let landmarksFile = File(
        name: "face-landmarks.hgm", digest: "207c571b3e75f2413b6e3b9578bfd0d8d189afba0b4920b82b8fe80eea737f46")
    private static let recogniserFile = File(
        name: "face-recogniser.hgm", digest: "d6f99f193f50f4da54071dd433120a79b6f7353df67c4bc3b0cab51f582dc923")
    /// Maximum size of a model file in bytes; all files are smaller.
    private static let maxFileBytes = 32 * 1024 * 1024

    /// Identifies the recogniser in stored templates, because descriptors of different networks cannot be compared.
    public static let modelID = String(recogniserFile.digest.prefix(16))

    let detector: [UInt8]
    let landmarks: [UInt8]
    let recogniser: [UInt8]

    /// Reads and checks the files. Blocks for some 50 ms.
    ///
    /// - Throws: ``FaceEngineError`` with `badModel`.
    init(directory: String) throws(FaceEngineError) {
        detector = try Self.read(Self.detectorFile, in: directory)
        landmarks = try Self.read(Self.landmarksFile, in: directory)
        recogniser = try Self.read(Self.recogniserFile, in: directory)
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
