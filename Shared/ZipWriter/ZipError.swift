/// The refusal of a call that would make an invalid archive.
public enum ZipError: Error, Sendable, Equatable {
    /// The path is empty, too long, absolute, or has a part that leads elsewhere.
    case invalidPath
    /// The archive has ``ZipWriter/maxFiles`` files.
    case tooManyFiles
    /// A file has more than ``ZipWriter/maxFileBytes``.
    case fileTooLarge
    /// The file before has not ended.
    case fileIsOpen
    /// No file has begun.
    case noFileIsOpen
}
