import FaceEngine
import Foundation
import Imaging
import Logging
import TestSupport

/// Measures the milliseconds per photo, from a file's bytes to a checked face, against the bare dlib loop in C++ on the same
/// photos.
///
/// Both use one thread and the same network with OpenBLAS. The loop detects faces at the photo's own size and checks nothing; the
/// pipeline detects at smaller scales first, which saves more time than its checks take.
func benchmarkFace(rounds: Int = 7) async throws -> [Figure] {
    let models = try PackageRoot.file(".cache/models")
    let photos = try benchmarkPhotos()
    let reference = try await FaceReference(models: models)
    let pool = try await FaceEnginePool.start(
        modelsDirectory: models, threads: 1, decoder: ImageDecoder(sandbox: .required, logger: Logger(label: "bench")))
    _ = try await milliseconds(of: pool, photos)

    // Rounds alternate, because the machine is shared: other load slows both.
    var (ours, theirs, ratios): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<rounds {
        ours.append(try await milliseconds(of: pool, photos))
        theirs.append(try await reference.milliseconds(photos.map(\.path)))
        ratios.append(ours[ours.count - 1] / theirs[theirs.count - 1])
    }
    await pool.shutdown()
    return [
        Figure(
            "face_pipeline_per_photo", ours.median, unit: "ms", reference: "bare dlib loop in C++, OpenBLAS, one thread",
            referenceValue: theirs.median, ratio: ratios.median, bar: 1.0, moreIsBetter: false)
    ]
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
            "clang++", "-std=c++17", "-O2", "-w", source, "-o", program, "-l:libdlib.a", "-lblas", "-llapack", "-ljpeg", "-lpng",
            "-lpthread",
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
