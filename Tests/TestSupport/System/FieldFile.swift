import Foundation

/// A picture as a phone writes it, in `Tests/Field`.
public enum FieldFile: String, CaseIterable, Sendable {
    /// The gain map belongs to one picture.
    case iOS17 = "iphone-ios17.heic"
    /// The gain map and the EXIF data belong to two pictures.
    case iOS18 = "iphone-ios18.heic"
    /// There is no end-of-image marker.
    case openEnded = "jpeg-no-eoi.jpg"
    /// There is no end-of-image marker, and a trailer.
    case openEndedWithTrailer = "jpeg-no-eoi-samsung-trailer.jpg"
    /// There is no end-of-image marker, and a trailer of 20 bytes, which a decoder of several scans warns of.
    case progressiveWithTrailer = "jpeg-progressive-no-eoi-trailer.jpg"

    /// Pixels across and down.
    public static let size = (640, 800)

    /// Returns the file.
    public func bytes() throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: PackageRoot.file("Tests/Field/\(rawValue)"))))
    }
}
