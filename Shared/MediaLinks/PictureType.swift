public import BlobStore

/// The kinds of picture that leave the system, each with the extension and the MIME type it goes under.
public enum PictureType: String, Sendable, CaseIterable {
    case jpeg
    case png
    case webp

    /// What a file's name ends with, without the dot: phones go by it.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The value of `Content-Type`.
    public var mimeType: String { "image/\(rawValue)" }

    /// Tells the type of an object by what its key ends with; nil for what is no picture.
    public init?(of key: BlobKey) {
        guard let type = Self.allCases.first(where: { key.name.hasSuffix(".\($0.fileExtension)") }) else { return nil }
        self = type
    }
}
