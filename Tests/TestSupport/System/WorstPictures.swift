public import Foundation
internal import ImageProbe

/// The pictures that cost a decoder most among those that are taken as photos of a face.
///
/// Large views of a person, so that all of them are examined and not only the first one, with noise on them, in the three encodings that
/// cannot be decoded row by row and at small size: HEIC, interlaced PNG of sixteen bits, and progressive JPEG.
public struct WorstPictures: Sendable {
    /// An encoding, with the suffix by which vips writes it and its colours there.
    private enum Encoding: String, CaseIterable {
        case heic = "heic[Q=60]"
        case png = "png[interlace,compression=1]"
        case jpeg = "jpg[interlace,no-subsample,Q=90]"

        var colours: String { self == .png ? "rgb16" : "srgb" }
        var fileExtension: String { String(rawValue.prefix { $0 != "[" }) }
    }

    /// The most bytes of a photo that are taken.
    private static let maxBytes = 10 << 20

    /// Three photos of each pose of a sign-up: left, right and front.
    public let left, right, front: [[UInt8]]
    /// The encodings' names, sizes and estimated costs.
    public let summary: String

    /// Makes the pictures, or reads those that were made before.
    ///
    /// - Parameter pixels: At most so many pixels each; the largest that are taken have 16 million, and take vips a minute.
    public static func make(pixels: Int = 16_000_000) async throws -> WorstPictures {
        let folder = URL(fileURLWithPath: PackageRoot.path + "/.build/worst-pictures/\(pixels)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var photos: [[[UInt8]]] = []
        var summary: [String] = []
        for pose in ["left", "right", "front"] {
            var ofPose: [[UInt8]] = []
            for (number, encoding) in Encoding.allCases.enumerated() {
                let photo = try await make("person-a/\(pose)-\(number + 1)", encoding, pixels, in: folder)
                let info = try probed(photo)
                ofPose.append(photo)
                if pose == "front" {
                    summary.append("\(info.format.rawValue) \(info.width)×\(info.height) \(photo.count >> 10) KiB \(info.cost)")
                }
            }
            photos.append(ofPose)
        }
        return WorstPictures(left: photos[0], right: photos[1], front: photos[2], summary: summary.joined(separator: ", "))
    }

    /// Makes one picture with as many pixels as the probe takes.
    private static func make(_ name: String, _ encoding: Encoding, _ pixels: Int, in folder: URL) async throws -> [UInt8] {
        let file = folder.appendingPathComponent("\(name.replacing("/", with: "-")).\(encoding.fileExtension)")
        if let made = try? Data(contentsOf: file) { return [UInt8](made) }
        let work = try TemporaryDirectory()
        let source = try PackageRoot.file(".cache/photos/\(name).jpg")
        let (width, height) = (try await number("width", of: source), try await number("height", of: source))
        var scale = (Double(pixels) / (width * height)).squareRoot()
        while true {
            // The sizes are rounded up, which may be a row too many.
            let (across, down) = (Int(width * scale), Int(height * scale))
            try await enlarge(source, to: (across, down), encoding, in: work)
            let photo = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(work.path)/worst.\(encoding.fileExtension)")))
            if (try? probed(photo)) != nil {
                try Data(photo).write(to: file, options: .atomic)
                return photo
            }
            scale *= 0.99
        }
    }

    private static func enlarge(
        _ source: String, to size: (width: Int, height: Int), _ encoding: Encoding, in work: TemporaryDirectory
    ) async throws {
        let folder = work.path
        func vips(_ operation: String, _ input: String, _ output: String, _ arguments: String...) async throws {
            try await CommandLineTool.run(["vips", operation, input, "\(folder)/\(output)"] + arguments)
        }
        // A PNG of the whole size with the noise of a camera would have more bytes than are taken: there a smaller view stands on black.
        let isFull = encoding != .png
        let (width, height) = isFull ? size : (size.width * 2 / 5, size.height * 2 / 5)
        try await vips("thumbnail", source, "view.v", "\(width)", "--height", "\(height)", "--size", "force")
        if isFull {
            let noise = ["vips", "gaussnoise", "\(folder)/noise.v", "\(width)", "\(height)", "--mean", "0", "--sigma", "6"]
            try await CommandLineTool.run(noise)
            try await CommandLineTool.run(["vips", "add", "\(folder)/view.v", "\(folder)/noise.v", "\(folder)/sum.v"])
            try await vips("cast", "\(folder)/sum.v", "large.v", "uchar")
        } else {
            try await vips("gravity", "\(folder)/view.v", "large.v", "centre", "\(size.width)", "\(size.height)")
        }
        try await vips("copy", "\(folder)/large.v", "colours.v", "--interpretation", "srgb")
        try await vips("colourspace", "\(folder)/colours.v", "worst.\(encoding.rawValue)", encoding.colours)
    }

    private static func number(_ field: String, of file: String) async throws -> Double {
        let text = try await CommandLineTool.run(["vipsheader", "-f", field, file])
        return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 1
    }

    private static func probed(_ photo: [UInt8]) throws -> ImageInfo {
        var limits = ImageLimits.face
        limits.bytes = maxBytes
        var probe = ImageProbe(limits: limits)
        try probe.feed(photo.span.bytes)
        return try probe.finish()
    }

    /// Returns one of these pictures as a file that was not sent before: what stands behind a picture is not shown.
    public static func variant(of photo: [UInt8], _ id: UUID = UUID()) -> [UInt8] {
        let text = Array(id.uuidString.utf8)
        // A HEIC file goes on in boxes.
        let length = UInt8(text.count + 8)
        return photo + [0, 0, 0, length] + Array("free".utf8) + text
    }
}
