import Foundation
import ImageProbe
import Imaging
import Logging
import TestSupport

private let decoder = ImageDecoder(sandbox: .required, logger: Logger(label: "bench"))
private let pipeline = ImagePipeline(decoder: decoder)

/// Measures thumbnails against `vipsthumbnail`, styles against `vips`, and the peak memory of the largest pictures: all on one
/// thread, with files of 12 and 40 megapixels made from the demo's portraits.
func benchmarkImages(rounds: Int = 5) async throws -> [Figure] {
    let folder = FileManager.default.temporaryDirectory.path + "/heliograph-images-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let photos = try await enlargedPhotos(in: folder)
    defer { ImagePipeline.leaveThread() }
    let thumbnails = try await benchmarkThumbnails(photos, rounds: rounds)
    let styles = try await benchmarkStyles(photos[0], in: folder, rounds: rounds)
    return try await [thumbnails] + styles + [benchmarkPeak(in: folder)]
}

/// Writes the portraits at 4,000 by 3,000 pixels as JPEG files and returns their paths.
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

/// Measures thumbnails per second from files on disk, against libvips' own tool on the same files, in one process and on one
/// thread.
private func benchmarkThumbnails(_ photos: [String], rounds: Int) async throws -> Figure {
    var (ours, theirs, ratios): ([Double], [Double], [Double]) = ([], [], [])
    let tool =
        ["vipsthumbnail"] + photos + [
            "--size", "300x200", "--smartcrop", "attention", "--export-profile", "srgb", "-o",
            "thumbnail-%s.jpg[Q=82,strip,optimize_coding]",
        ]
    for _ in 0..<rounds {
        ours.append(
            Double(photos.count)
                / (try seconds {
                    for path in photos { _ = try pipeline.thumbnail(of: try file(path)) }
                }))
        let clock = ContinuousClock()
        let start = clock.now
        try await CommandLineTool.run(tool, environment: ["VIPS_CONCURRENCY": "1"])
        theirs.append(Double(photos.count) / (start.duration(to: clock.now) / .seconds(1)))
        ratios.append(ours[ours.count - 1] / theirs[theirs.count - 1])
    }
    return Figure(
        "image_thumbnails", ours.median, unit: "thumbnails/s", reference: "vipsthumbnail on the same files of 12 MP, one thread",
        referenceValue: theirs.median, ratios: ratios, bar: 0.9)
}

/// Measures the processor time of each style at medium quality, against libvips' own tool that scales the same file to the same
/// size. Rounds alternate, so that other load slows both.
private func benchmarkStyles(_ photo: String, in folder: String, rounds: Int) async throws -> [Figure] {
    let bytes = try file(photo)
    let side = PictureQuality.medium.maxSide
    let tool = ["vips", "thumbnail", photo, "\(folder)/scaled.jpg[Q=85,strip]", "\(side)", "--height", "\(side)", "--size", "down"]
    var theirs: [Double] = []
    var ours: [PictureStyle: [Double]] = [:]
    for _ in 0..<rounds {
        let before = processorSeconds(RUSAGE_CHILDREN)
        try await CommandLineTool.run(tool, environment: ["VIPS_CONCURRENCY": "1"])
        theirs.append(processorSeconds(RUSAGE_CHILDREN) - before)
        for style in PictureStyle.allCases {
            let start = processorSeconds(RUSAGE_SELF) + decoderSeconds()
            _ = try pipeline.stylise(bytes, style: style)
            ours[style, default: []].append(processorSeconds(RUSAGE_SELF) + decoderSeconds() - start)
        }
    }
    return PictureStyle.allCases.map { style in
        let times = ours[style] ?? []
        return Figure(
            "image_style_\(style.rawValue)", times.median * 1_000, unit: "ms of a core for 12 MP",
            reference: "vips thumbnail of the same file to the same size, one thread", referenceValue: theirs.median * 1_000,
            ratios: zip(times, theirs).map { $0 / $1 }, bar: 4.5, moreIsBetter: false)
    }
}

/// Measures the peak memory of this process and of its decoder while they make the results of image-worker from pictures of 40 megapixels:
/// a thumbnail, and styles of the best quality. The encodings need the most memory of all, because their decoders hold the whole picture.
private func benchmarkPeak(in folder: String) async throws -> Figure {
    let kinds = [("large.jpg", "Q=60,interlace,no-subsample"), ("large.png", "interlace"), ("large.webp", "lossless,effort=0")]
    for (name, options) in kinds {
        try await enlarge("original/obama3", to: "\(folder)/\(name)", options: options, width: 8_000, height: 5_000)
    }
    let limits = ImageLimits(bytes: 256 << 20)
    // A new decoder, so that its peak does not come from earlier pictures.
    let decoder = ImageDecoder(sandbox: .required, logger: Logger(label: "bench"))
    let pipeline = ImagePipeline(decoder: decoder)
    // Writing 5 resets the peak, `VmHWM` (proc(5)).
    try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    for (name, _) in kinds {
        let bytes = try file("\(folder)/\(name)")
        _ = try pipeline.thumbnail(of: bytes, limits: limits)
        let picture = try pipeline.normalise(bytes, maxSide: PictureQuality.high.maxSide, limits: limits).picture
        for style in [PictureStyle.oilPainting, .vintage] {
            _ = try pipeline.stylise(picture.bytes, style: style, quality: .high)
        }
    }
    // The sum is an upper bound: while one of the two computes, the other one waits.
    let kilobytes = try (["self"] + decoder.idleProcesses.map { "\($0)" }).map(peakKilobytes).reduce(0, +)
    return Figure("image_peak_memory_40_megapixels", kilobytes / 1_024, unit: "MiB", bar: 500, moreIsBetter: false)
}

private func peakKilobytes(of process: String) throws -> Double {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    return status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }.flatMap { Double($0.filter(\.isNumber)) } ?? .nan
}

/// Returns the processor seconds of the decoder.
private func decoderSeconds() -> Double {
    decoder.idleProcesses.reduce(0) { seconds, pid in
        // The times in user and kernel mode are the fields 14 and 15 (proc(5)); the name, field 2, ends with the last parenthesis.
        let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        return seconds + fields.dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

private func file(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

/// Returns the processor seconds of all threads of this process, or of its children that have ended. libvips has threads of its
/// own, one of which runs at a time.
private func processorSeconds(_ who: __rusage_who) -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(who.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}

private func seconds(_ work: () throws -> Void) throws -> Double {
    let clock = ContinuousClock()
    return try clock.measure(work) / .seconds(1)
}
