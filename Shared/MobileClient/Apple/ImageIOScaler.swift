#if canImport(ImageIO)
    internal import Foundation
    internal import ImageIO
    internal import UniformTypeIdentifiers

    /// Scales photos by Apple's Image I/O, which reads a file piece by piece and decodes it no larger than needed. It makes no decisions.
    struct ImageIOScaler: PhotoScaling {
        private static let quality = 0.9

        func jpeg(of photo: PhotoSource, maxSide: Int) -> Data? {
            // The decoded photo is used once.
            let reading: [CFString: Any] = [kCGImageSourceShouldCache: false]
            let source: CGImageSource? =
                switch photo {
                case .data(let data): CGImageSourceCreateWithData(data as CFData, reading as CFDictionary)
                case .file(let url): CGImageSourceCreateWithURL(url as CFURL, reading as CFDictionary)
                }
            let scaling: [CFString: Any] = [
                // Of the photo itself, and not the small preview that cameras store in it.
                kCGImageSourceCreateThumbnailFromImageAlways: true,
                // Upright: the result has no metadata that say how it is to be turned.
                kCGImageSourceCreateThumbnailWithTransform: true,
                kCGImageSourceThumbnailMaxPixelSize: maxSide,
            ]
            let writing: [CFString: Any] = [kCGImageDestinationLossyCompressionQuality: Self.quality]
            let output = NSMutableData()
            guard let source,
                let image = CGImageSourceCreateThumbnailAtIndex(
                    source, CGImageSourceGetPrimaryImageIndex(source), scaling as CFDictionary),
                let destination = CGImageDestinationCreateWithData(output as CFMutableData, UTType.jpeg.identifier as CFString, 1, nil)
            else { return nil }
            CGImageDestinationAddImage(destination, image, writing as CFDictionary)
            return CGImageDestinationFinalize(destination) ? Data(referencing: output) : nil
        }
    }
#endif
