// Stands in for what Imaging is about to offer, under the same names. To be deleted when it does.
public import Imaging

extension ImageFormat {
    var mimeType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .webp: "image/webp"
        case .heic: "image/heic"
        }
    }
}

/// A picture as a file.
public struct EncodedPicture: Sendable {
    public let bytes: [UInt8]
    public let format: ImageFormat
    public let width: Int
    public let height: Int

    public init(bytes: [UInt8], format: ImageFormat, width: Int, height: Int) {
        self.bytes = bytes
        self.format = format
        self.width = width
        self.height = height
    }
}

/// The styles of the local generator.
public enum PictureStyle: String, CaseIterable, Sendable {
    case animeStyle = "anime-style"
    case pencilSketch = "pencil-sketch"
    case watercolor
    case oilPainting = "oil-painting"
    case popArt = "pop-art"
    case vintage
}

/// How well a picture is encoded.
public enum PictureQuality: String, CaseIterable, Sendable { case low, medium, high }

enum PictureWorkshop {
    static func stylise(
        _ bytes: [UInt8], style: PictureStyle, width: Int?, height: Int?, quality: PictureQuality, isCancelled: () -> Bool
    ) throws -> EncodedPicture {
        throw GenerationError(.unavailable(retryAfter: nil), "no styles yet")
    }
}
