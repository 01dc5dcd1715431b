/// The kinds of picture that leave the system, each with the extension and the MIME type it goes under.
public enum MediaType: String, Sendable, CaseIterable {
    case jpeg
    case png
    case webp

    /// What a file's name ends with, without the dot: phones go by it.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The value of `Content-Type`.
    public var mimeType: String { "image/\(rawValue)" }

    /// Makes a type from what a file's name ends with, nil for what never leaves the system.
    public init?(fileExtension: some StringProtocol) {
        guard let type = Self.allCases.first(where: { $0.fileExtension == fileExtension }) else { return nil }
        self = type
    }
}
