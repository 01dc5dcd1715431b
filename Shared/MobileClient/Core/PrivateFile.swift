internal import Foundation

/// Creates files that only the user of the process can read.
///
/// `FileManager.createFile` is not suitable: it first makes a file of another name, which remains if the process ends. It restricts the
/// file only after it has its final name, under which other processes may open it.
enum PrivateFile {
    /// Creates a file that must not exist, empty, for writing.
    ///
    /// - Throws: The error of the system as an `NSError` with its code.
    static func create(_ file: URL) throws -> FileHandle {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw NSError(domain: NSPOSIXErrorDomain, code: Int(errno)) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Lets iOS read a file after the first unlock since the device's start, even while the device is locked again.
    static func allowWhileLocked(_ file: URL) throws {
        #if os(iOS)
            try FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: file.path)
        #endif
    }
}
