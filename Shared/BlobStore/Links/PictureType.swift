/// The types of pictures that the system serves, with file extension and MIME type.
public enum PictureType: String, Sendable, CaseIterable {
    case jpeg
    case png
    case webp

    /// The file extension without the dot; phones recognise the type by it.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The value of `Content-Type`.
    public var mimeType: String { "image/\(rawValue)" }

    /// Derives the type of an object from the extension of its key; nil when it is not a picture's extension.
    public init?(of key: BlobKey) {
        guard let type = Self.allCases.first(where: { key.name.hasSuffix(".\($0.fileExtension)") }) else { return nil }
        self = type
    }
}
