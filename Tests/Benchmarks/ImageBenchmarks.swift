import Foundation
import ImageProbe
import Imaging
import TestSupport

/// Thumbnails beside `vipsthumbnail`, styles in megapixels a second, and the memory the largest pictures take: all on one
/// thread, with files of 12 and 40 megapixels made of the demo's portraits.
func benchmarkImages(rounds: Int = 5) async throws -> [Figure] {
    let folder = FileManager.default.temporaryDirectory.path + "/heliograph-images-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let photos = try await enlargedPhotos(in: folder)
    defer { ImageDecoder.leaveThread() }
    return try await [benchmarkThumbnails(photos, rounds: rounds)] + benchmarkStyles(photos[0]) + [try await benchmarkPeak(in: folder)]
}

/// The portraits at 4,000 by 3,000 pixels, as JPEG.
private func enlargedPhotos(in folder: String) async throws -> [String] {
    var paths: [String] = []
    for name in Photos.left + Photos.right + Photos.front + Photos.sameFace {
        paths.append("\(folder)/photo-\(paths.count).jpg")
        try await enlarge(name, to: paths[paths.count - 1], width: 4_000, height: 3_000)
    }
    return paths
}

private func enlarge(_ name: String, to path: String, options: String = "Q=92", width: Int, height: Int) async throws {
    let photo = try PackageRoot.file(".cache/photos/\(name).jpg")
    try await CommandLineTool.run([
        "vips", "thumbnail", photo, "\(path)[\(options)]", "\(width)", "--height", "\(height)", "--crop", "centre",
    ])
}

/// Thumbnails a second from files on the disk, against libvips' own tool on the same files, in one process and on one thread.
private func benchmarkThumbnails(_ photos: [String], rounds: Int) async throws -> Figure {
    var (ours, theirs, ratios): ([Double], [Double], [Double]) = ([], [], [])
    let tool = ["vipsthumbnail"] + photos + [
        "--size", "300x200", "--smartcrop", "attention", "--export-profile", "srgb", "-o", "thumbnail-%s.jpg[Q=82,strip,optimize_coding]",
    ]
    for _ in 0..<rounds {
        ours.append(
            Double(photos.count) / (try seconds {
                for path in photos { _ = try PictureWorkshop.thumbnail(of: try file(path)) }
            }))
        let clock = ContinuousClock()
        let start = clock.now
        try await CommandLineTool.run(tool, environment: ["VIPS_CONCURRENCY": "1"])
        theirs.append(Double(photos.count) / (start.duration(to: clock.now) / .seconds(1)))
        ratios.append(ours[ours.count - 1] / theirs[theirs.count - 1])
    }
    return Figure(
        "image_thumbnails", ours.median, unit: "thumbnails/s", reference: "vipsthumbnail on the same files of 12 MP, one thread",
        referenceValue: theirs.median, ratio: ratios.median, bar: 0.9)
}

/// Megapixels of the picture that came, for a second of one core, for each style at medium quality; 12 MP in 1.5 s are 8 MP/s.
private func benchmarkStyles(_ photo: String) throws -> [Figure] {
    let bytes = try file(photo)
    return try PictureStyle.allCases.map { style in
        let times = try (0..<3).map { _ in
            let start = processorSeconds()
            _ = try PictureWorkshop.stylise(bytes, style: style)
            return processorSeconds() - start
        }
        return Figure("image_style_\(style.rawValue)", 12 / times.median, unit: "MP/s of one core", bar: 8)
    }
}

/// The most memory this process held while it made of pictures of 40 megapixels what image-worker makes: a thumbnail, and a
/// style of the best quality. The pictures are of the encodings that take most, because a decoder keeps them whole.
private func benchmarkPeak(in folder: String) async throws -> Figure {
    let kinds = [("large.jpg", "Q=60,interlace,no-subsample"), ("large.png", "interlace"), ("large.webp", "lossless,effort=0")]
    for (name, options) in kinds {
        try await enlarge("original/obama3", to: "\(folder)/\(name)", options: options, width: 8_000, height: 5_000)
    }
    let limits = ImageLimits(bytes: 256 << 20)
    // Linux forgets the peak there was when it is told 5.
    try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    for (name, _) in kinds {
        let bytes = try file("\(folder)/\(name)")
        _ = try PictureWorkshop.thumbnail(of: bytes, limits: limits)
        let picture = try PictureWorkshop.normalise(bytes, maxSide: PictureQuality.high.maxSide, limits: limits).picture
        for style in [PictureStyle.oilPainting, .vintage] {
            _ = try PictureWorkshop.stylise(picture.bytes, style: style, quality: .high)
        }
    }
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kilobytes = line.flatMap { Double($0.filter(\.isNumber)) } ?? .nan
    return Figure("image_peak_memory_40_megapixels", kilobytes / 1_024, unit: "MiB", bar: 400, moreIsBetter: false)
}

private func file(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

/// What all threads of this process have computed: libvips has some of its own, but one of them at a time.
private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
}

private func seconds(_ work: () throws -> Void) throws -> Double {
    let clock = ContinuousClock()
    return try clock.measure(work) / .seconds(1)
}
