internal import Foundation

/// A file that is being written: it has another name (`….part`) until it is complete, so that no end of the process leaves half a file
/// under the name that the caller has asked for.
struct PartialFile {
    private let file: URL
    private let part: URL
    private let handle: FileHandle

    init(of file: URL) throws(TransportError) {
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw TransportError(.file, "The file of the answer exists already")
        }
        self.file = file
        part = file.deletingLastPathComponent().appendingPathComponent("\(file.lastPathComponent).\(UUID().uuidString).part")
        guard let handle = try? PrivateFile.create(part) else {
            throw TransportError(.file, "The file of the answer cannot be created")
        }
        self.handle = handle
    }

    func write(_ data: Data) throws(TransportError) {
        do { try handle.write(contentsOf: data) } catch {
            throw TransportError(.file, "The file of the answer cannot be written: code \((error as NSError).code)")
        }
    }

    /// Gives the file its name, or removes it.
    func end(keeping isComplete: Bool) throws(TransportError) {
        do {
            try handle.close()
            if isComplete { return try FileManager.default.moveItem(at: part, to: file) }
        } catch {
            try? FileManager.default.removeItem(at: part)
            throw TransportError(.file, "The file of the answer cannot be completed: code \((error as NSError).code)")
        }
        try? FileManager.default.removeItem(at: part)
    }
}
