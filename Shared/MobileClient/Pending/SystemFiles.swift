internal import Foundation

/// The operations on files of the system.
struct SystemFiles: FileOperations {
    func read(_ file: URL) throws -> Data? {
        do { return try Data(contentsOf: file) } catch {
            // Return nil only for a missing file: a locked file must not be taken for lost.
            guard Self.isMissing(error) else { throw error }
            return nil
        }
    }

    func write(_ data: Data, to file: URL) throws {
        try remove(file)
        // Created empty with its permissions, so that there is no moment at which others can read it.
        let handle = try PrivateFile.create(file)
        try PrivateFile.allowWhileLocked(file)
        do {
            try handle.write(contentsOf: data)
            try handle.synchronize()
        } catch {
            try? handle.close()
            throw error
        }
        try handle.close()
        try excludeFromBackup(file)
    }

    func move(_ file: URL, to other: URL) throws {
        // `rename` replaces at once; `FileManager.moveItem` refuses, and `replaceItem` has moments without either file.
        guard rename(file.path, other.path) == 0 else { throw Self.posixError() }
    }

    func syncFolder(_ folder: URL) throws {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.posixError() }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Self.posixError() }
    }

    func remove(_ file: URL) throws {
        guard unlink(file.path) != 0, errno != ENOENT else { return }
        throw Self.posixError()
    }

    func createFolder(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try excludeFromBackup(folder)
    }

    private func excludeFromBackup(_ url: URL) throws {
        #if canImport(Darwin)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var copy = url
            try copy.setResourceValues(values)
        #endif
    }

    func list(_ folder: URL) throws -> [FolderEntry] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder.path) } catch {
            guard Self.isMissing(error) else { throw error }
            return []
        }
        return names.compactMap { name in
            // A file may go while the folder is read.
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path),
                attributes[.type] as? FileAttributeType == .typeRegular, let date = attributes[.modificationDate] as? Date
            else { return nil }
            return FolderEntry(name: name, modifiedAt: date)
        }
    }

    private static func isMissing(_ error: any Error) -> Bool {
        let error = error as NSError
        if error.domain == NSCocoaErrorDomain {
            return [CocoaError.fileNoSuchFile.rawValue, CocoaError.fileReadNoSuchFile.rawValue].contains(error.code)
        }
        return error.domain == NSPOSIXErrorDomain && error.code == Int(ENOENT)
    }

    private static func posixError() -> NSError { NSError(domain: NSPOSIXErrorDomain, code: Int(errno)) }
}
