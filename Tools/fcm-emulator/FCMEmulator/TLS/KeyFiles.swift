import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Writes files that hold keys.
enum KeyFiles {
    /// Writes the text to a new file that only its owner may read; missing folders are made. Blocking.
    static func write(_ text: String, to file: String) throws {
        let folder = URL(filePath: file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The text goes to a temporary file that is renamed, so that a process waiting for the file never reads half of it, and two
        // emulators that make it at the same time do not disturb each other.
        let temporary = "\(file).\(UUID().uuidString)"
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: temporary, contents: Data(text.utf8), attributes: attributes) else {
            throw CocoaError(.fileWriteUnknown)
        }
        guard rename(temporary, file) == 0 else {
            unlink(temporary)
            throw CocoaError(.fileWriteUnknown)
        }
    }
}
