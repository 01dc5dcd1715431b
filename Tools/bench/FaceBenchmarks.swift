import FaceEngine
import Foundation
import Imaging
import Logging
import TestSupport

/// Measures the milliseconds per photo, from a file's bytes to a checked face, against the bare dlib loop in C++ on the same
/// photos: portraits of 0.5 megapixels, and three of them enlarged to 12 megapixels.
///
/// Both use one thread. The loop runs dlib's network, with half of the arithmetic, on OpenBLAS; it detects faces at the photo's own size
/// and makes no checks.
func benchmarkFace(rounds: Int = 7) async throws -> [Figure] {
    try await CommandLineTool.run([try PackageRoot.file("deploy/local/bench-peers.sh"), "faces"])
    let reference = try await FaceReference(models: try PackageRoot.file(".cache/bench-models"))
    let pool = try await FaceEnginePool.start(
        modelsDirectory: try PackageRoot.file(".cache/models"), threads: 1,
        decoder: ImageDecoder(sandbox: .required, logger: Logger(label: "bench")))
    let photos = try benchmarkPhotos()
    let large = try await enlarged(photos.filter { $0.path.contains("front") })
    let figures = [
        try await compare("face_pipeline_per_photo", pool, reference, photos, rounds: rounds, bar: 0.6),
        try await compare("face_pipeline_12_megapixels", pool, reference, large, rounds: 3, bar: 0.08),
    ]
    await pool.shutdown()
    return figures
}

private func compare(
    _ name: String, _ pool: FaceEnginePool, _ reference: FaceReference, _ photos: [BenchmarkPhoto], rounds: Int, bar: Double
) async throws -> Figure {
    _ = try await milliseconds(of: pool, photos)
    // Rounds alternate, because the machine is shared: other load slows both.
    var (ours, theirs, ratios): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<rounds {
        ours.append(try await milliseconds(of: pool, photos))
        theirs.append(try await reference.milliseconds(photos.map(\.path)))
        ratios.append(ours[ours.count - 1] / theirs[theirs.count - 1])
    }
    return Figure(
        name, ours.median, unit: "ms", reference: "bare dlib loop in C++ with AVX2, OpenBLAS, one thread", referenceValue: theirs.median,
        ratios: ratios, bar: bar, moreIsBetter: false)
}

private struct BenchmarkPhoto {
    let path: String
    let purpose: PhotoPurpose
}

/// Returns the nine photos of a sign-up and the three of a sign-in.
private func benchmarkPhotos() throws -> [BenchmarkPhoto] {
    func photos(_ name: String, _ purpose: PhotoPurpose) throws -> [BenchmarkPhoto] {
        try (1...3).map {
            BenchmarkPhoto(path: try PackageRoot.file(".cache/photos/person-a/\(name)-\($0).jpg"), purpose: purpose)
        }
    }
    return try ["left", "right", "front"].flatMap { try photos($0, .signUp) } + photos("sign-in", .signIn)
}

/// Returns photos of 12 megapixels with the same content, as a phone takes them.
private func enlarged(_ photos: [BenchmarkPhoto]) async throws -> [BenchmarkPhoto] {
    let folder = PackageRoot.path + "/.cache/bench"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var made: [BenchmarkPhoto] = []
    for photo in photos {
        let path = folder + "/large-" + URL(fileURLWithPath: photo.path).lastPathComponent
        try await CommandLineTool.run(["vipsthumbnail", photo.path, "--size", "4032x4032", "-o", path + "[Q=90]"])
        made.append(BenchmarkPhoto(path: path, purpose: photo.purpose))
    }
    return made
}

private func milliseconds(of pool: FaceEnginePool, _ photos: [BenchmarkPhoto]) async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    for photo in photos {
        let file = try Data(contentsOf: URL(fileURLWithPath: photo.path))
        guard case .usable = try await pool.analyse([UInt8](file), for: photo.purpose) else {
            throw BenchmarkPhotoRefused(path: photo.path)
        }
    }
    return start.duration(to: clock.now) / .milliseconds(1) / Double(photos.count)
}

/// Thrown when the pipeline refuses a photo that the reference accepts: the two would not do the same work.
private struct BenchmarkPhotoRefused: Error {
    let path: String
}

/// Thrown when the reference prints no time.
private struct ReferenceSilent: Error {
    let output: String
}

/// The reference program; compiled again only when its source has changed.
private struct FaceReference {
    let program: String
    let models: String

    init(models: String) async throws {
        self.models = models
        let source = try PackageRoot.file("Tools/bench/Reference/face_reference.cpp")
        let folder = PackageRoot.path + "/.cache/bench"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        program = folder + "/face_reference"
        func changed(_ path: String) -> Date {
            (try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date) ?? .distantPast
        }
        guard changed(program) <= changed(source) else { return }
        try await CommandLineTool.run([
            "clang++", "-std=c++17", "-O3", "-mavx2", "-mfma", "-w", source, "-o", program, "-l:libdlib.a", "-lblas", "-llapack", "-ljpeg",
            "-lpng", "-lpthread",
        ])
    }

    func milliseconds(_ photos: [String]) async throws -> Double {
        let output = try await CommandLineTool.run(
            [
                program, models + "/shape_predictor_5_face_landmarks.dat", models + "/dlib_face_recognition_resnet_model_v1.dat",
                "1",
            ] + photos, environment: ["OPENBLAS_NUM_THREADS": "1"])
        guard let value = output.split(separator: "\n").lazy.compactMap({ Double($0) }).first else {
            throw ReferenceSilent(output: output)
        }
        return value
    }
}
