/// The refusal of a call that would make an invalid archive.
struct ZipError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of refusal.
    enum Code: String, Sendable {
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

    /// The kind of refusal.
    let code: Code
    /// One sentence for the log.
    let message: String

    var description: String { "\(code.rawValue): \(message)" }

    static let invalidPath = ZipError(code: .invalidPath, message: "the path is not a relative one without `.` and `..`")
    static let tooManyFiles = ZipError(code: .tooManyFiles, message: "the archive has \(ZipWriter.maxFiles) files")
    static let fileTooLarge = ZipError(code: .fileTooLarge, message: "the file has more than \(ZipWriter.maxFileBytes) bytes")
    static let fileIsOpen = ZipError(code: .fileIsOpen, message: "the file before has not ended")
    static let noFileIsOpen = ZipError(code: .noFileIsOpen, message: "no file has begun")
}
