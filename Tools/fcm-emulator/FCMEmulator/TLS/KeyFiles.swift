import FoundationEssentials

/// Writes files that hold keys.
enum KeyFiles {
    /// Writes the text to a new file that only its owner may read; missing folders are made. Blocking.
    static func write(_ text: String, to file: String) throws {
        let folder = URL(filePath: file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The text goes to a temporary file that is renamed, so that a process waiting for the file never reads half of it.
        let temporary = file + ".new"
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: temporary, contents: Data(text.utf8), attributes: attributes) else {
            throw CocoaError(.fileWriteUnknown)
        }
        if FileManager.default.fileExists(atPath: file) { try FileManager.default.removeItem(atPath: file) }
        try FileManager.default.moveItem(atPath: temporary, toPath: file)
    }
}
