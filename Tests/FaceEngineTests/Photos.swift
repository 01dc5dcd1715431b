import FaceEngine
import Foundation
import Imaging
import Logging
import TestSupport

/// The photos that `make setup` downloads, and pictures made from them.
enum Photos {
    static func read(_ name: String) throws -> [UInt8] {
        let path = try PackageRoot.file(".cache/photos/\(name).jpg")
        return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Returns the nine photos of a sign-up by person A, by pose.
    static func signUp() throws -> [(pose: FacePose, file: [UInt8])] {
        let names: [(FacePose, String)] = [(.left, "left"), (.right, "right"), (.front, "front")]
        return try names.flatMap { pose, name in
            try (1...3).map { (pose, try read("person-a/\(name)-\($0)")) }
        }
    }

    static func signIn(_ person: String) throws -> [[UInt8]] {
        try (1...3).map { try read("\(person)/sign-in-\($0)") }
    }

    /// The beginning of a PNG file with 20,000 × 20,000 pixels in its header.
    static let hugeFile: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0x4E, 0x20, 0, 0, 0x4E, 0x20,
        8, 2, 0, 0, 0, 0, 0, 0, 0,
    ]

    /// Returns a decoded photo with changed pixels.
    static func altered(
        _ name: String, _ change: (_ image: RGBImage, _ x: Int, _ y: Int, _ channel: Int) -> UInt8
    ) throws -> RGBImage {
        let image = try Engines.decoder.decodeUpright(try read(name)).image
        var pixels: [UInt8] = []
        pixels.reserveCapacity(image.pixels.count)
        for y in 0..<image.height {
            for x in 0..<image.width {
                for channel in 0..<3 { pixels.append(change(image, x, y, channel)) }
            }
        }
        return RGBImage(width: image.width, height: image.height, pixels: pixels)
    }
}

extension RGBImage {
    func level(_ x: Int, _ y: Int, _ channel: Int) -> UInt8 {
        pixels[(min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)) * 3 + channel]
    }
}

/// One pool of real engines for all tests of the process.
enum Engines {
    static let decoder = ImageDecoder(sandbox: .required, logger: Logger(label: "face-engine-tests") { _ in SwiftLogNoOpLogHandler() })
    private static let starting = Task {
        let models = try PackageRoot.file(".cache/models")
        return try await FaceEnginePool.start(modelsDirectory: models, threads: 2, decoder: decoder)
    }

    static func pool() async throws -> FaceEnginePool { try await starting.value }

    static func analyse(_ photos: [[UInt8]], for purpose: PhotoPurpose) async throws -> [PhotoAnalysis] {
        let pool = try await pool()
        var analyses: [PhotoAnalysis] = []
        for photo in photos { analyses.append(try await pool.analyse(photo, for: purpose)) }
        return analyses
    }
}

extension PhotoAnalysis {
    var face: FaceObservation? {
        if case .usable(let face) = self { face } else { nil }
    }

    var fault: PhotoFault? {
        if case .rejected(let faults) = self { faults.first } else { nil }
    }
}
