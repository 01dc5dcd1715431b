internal import Foundation

/// Creates files that the user of the process alone can read.
///
/// `FileManager.createFile` does not serve: it makes a file of another name first, which an end of the process leaves behind, and
/// restricts it only after it has the name by which others may open it.
enum PrivateFile {
    /// Creates a file that must not exist, empty, for writing.
    ///
    /// - Throws: The error of the system as an `NSError` with its code.
    static func create(_ file: URL) throws -> FileHandle {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno)) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Lets iOS read a file from the first time on that the device is unlocked after its start, also while it is locked again.
    static func allowWhileLocked(_ file: URL) throws {
        #if os(iOS)
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: file.path)
        #endif
    }
}
