public import Foundation

/// The format of a picture, as its first bytes say it.
public enum PictureFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg, png, webp, heic

    /// The first bytes that identify a format.
    static let headBytes = 512

    /// Finds the format of a picture by its first bytes; nil for a format that the API does not accept.
    public init?(_ head: Data) {
        let bytes = Array(head.prefix(Self.headBytes))
        func text(_ range: Range<Int>) -> String? {
            range.upperBound <= bytes.count ? String(decoding: bytes[range], as: UTF8.self) : nil
        }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if text(0..<4) == "RIFF", text(8..<12) == "WEBP" {
            self = .webp
        } else if text(4..<8) == "ftyp", Self.brands(bytes).contains(where: { ["heic", "heix", "heim", "heis"].contains($0) }) {
            self = .heic
        } else {
            return nil
        }
    }

    /// The media type, such as `image/jpeg`.
    public var mediaType: String { "image/" + rawValue }

    /// The extension of a file name.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The brands of an ISO media file (ISO 14496-12 §4.3): the major one, and the compatible ones after its version.
    private static func brands(_ bytes: [UInt8]) -> [String] {
        let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let end = min(bytes.count, length)
        return stride(from: 8, to: max(end - 3, 8), by: 4).filter { $0 != 12 }.map { String(decoding: bytes[$0..<$0 + 4], as: UTF8.self) }
    }
}
