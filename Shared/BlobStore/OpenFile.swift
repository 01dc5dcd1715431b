#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// An open file, closed when its last reference is released. Every call blocks.
final class OpenFile: Sendable {
    private let descriptor: CInt

    /// Creates a file that only this user can read; fails when the file exists.
    init(creating path: String) throws(BlobStoreError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Disk.failure("create a file") }
    }

    /// Opens a file to read it from the start.
    init(reading path: String) throws(BlobStoreError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Disk.failure("open a file") }
    }

    /// Creates an unlinked temporary file, which the system removes with its last reference, also after a crash.
    init(namelessIn directory: String) throws(BlobStoreError) {
        var template = Array("\(directory)/heliograph-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, unlink(template) == 0 else {
            throw Disk.failure("create a file in the spool directory")
        }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(BlobStoreError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { sysWrite(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Disk.failure("write to a file") }
            rest = rest.dropFirst(written)
        }
    }

    /// Returns the next bytes; empty at the end of the file.
    func read(atMost count: Int) throws(BlobStoreError) -> [UInt8] {
        var result = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            repeat { result = sysRead(descriptor, buffer.baseAddress, count) } while result < 0 && errno == EINTR
            initializedCount = max(result, 0)
        }
        guard result >= 0 else { throw Disk.failure("read a file") }
        return bytes
    }

    /// Returns the size of the file.
    func byteCount() throws(BlobStoreError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Disk.failure("read a file") }
        return Int(status.st_size)
    }

    /// Returns the bytes at an offset, fewer only at the end of the file. The file position does not change.
    func read(atMost count: Int, from offset: Int) throws(BlobStoreError) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let result = pread(descriptor, buffer.baseAddress! + done, count - done, off_t(offset + done))
                if result < 0, errno == EINTR { continue }
                failed = result < 0
                guard result > 0 else { break }
                done += result
            }
        }
        guard !failed else { throw Disk.failure("read a file") }
        return bytes
    }

    /// Sets the file position to the start.
    func rewind() throws(BlobStoreError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Disk.failure("rewind a file") }
    }

    /// Returns the bytes from the file position to the end.
    ///
    /// - Throws: `tooLarge` when there are more than `limit` bytes.
    func readAll(limit: Int, of key: BlobKey) throws(BlobStoreError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let chunk = try read(atMost: 256 * 1024)
            if chunk.isEmpty { return bytes }
            bytes += chunk
            guard bytes.count <= limit else { throw BlobStoreError(.tooLarge, "\(key) has more than \(limit) bytes") }
        }
    }

    /// Waits until all written bytes are on the disk (fsync).
    func synchronize() throws(BlobStoreError) {
        guard fsync(descriptor) == 0 else { throw Disk.failure("write a file to the disk") }
    }
}

private func sysWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(descriptor, bytes, count) }

private func sysRead(_ descriptor: CInt, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}
