internal import CLinux
internal import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// File system operations on paths. Every call blocks.
enum Disk {
    /// Makes a directory that only this user can enter, and its missing parents.
    static func makeDirectory(_ path: String) throws(BlobStoreError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, path.contains("/"), path != "/" else { throw failure("make a directory") }
        try makeDirectory(parent(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make a directory") }
    }

    /// Renames a file to its final name, durably.
    static func move(_ path: String, to destination: String) throws(BlobStoreError) {
        let directory = parent(of: destination)
        // A deletion of the last object of a directory also removes the directory, which may happen between the two calls.
        for attempt in 1...3 {
            try makeDirectory(directory)
            if rename(path, destination) == 0 { break }
            guard errno == ENOENT, attempt < 3 else { throw failure("rename a file") }
        }
        try OpenFile(reading: directory).synchronize()
    }

    /// Exchanges the names of two files at once, durably.
    ///
    /// - Throws: `notFound` when one of them does not exist; then nothing has changed.
    static func exchange(_ path: String, with other: String) throws(BlobStoreError) {
        #if canImport(Glibc)
            let result = renameat2(AT_FDCWD, path, AT_FDCWD, other, CLINUX_RENAME_EXCHANGE)
        #else
            let result = renamex_np(path, other, UInt32(RENAME_SWAP))
        #endif
        guard result == 0 else { throw failure("exchange two files") }
        try OpenFile(reading: parent(of: other)).synchronize()
    }

    /// Returns the paths of all files under a directory, relative to it; empty if it does not exist.
    static func files(under path: String) throws(BlobStoreError) -> [String] {
        guard access(path, F_OK) == 0 else { return [] }
        let names: [String]
        do {
            names = try FileManager.default.subpathsOfDirectory(atPath: path)
        } catch {
            throw BlobStoreError(.unavailable, "cannot list a directory", underlying: error)
        }
        return names.filter { name in
            var status = stat()
            return stat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Deletes a file, if there is one.
    static func remove(_ path: String) throws(BlobStoreError) {
        guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw failure("delete a file") }
    }

    /// Deletes a directory if it is empty.
    static func removeIfEmpty(_ path: String) { rmdir(path) }

    /// Deletes a directory and everything in it, if there is one.
    static func removeTree(_ path: String) throws(BlobStoreError) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            guard access(path, F_OK) != 0 else {
                throw BlobStoreError(.unavailable, "cannot delete a directory", underlying: error)
            }
        }
    }

    /// Returns the paths directly in a directory that were not changed for `age`; empty if the directory does not exist.
    static func children(of path: String, unchangedFor age: Duration) throws(BlobStoreError) -> [String] {
        guard access(path, F_OK) == 0 else { return [] }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw BlobStoreError(.unavailable, "cannot list a directory", underlying: error)
        }
        let oldest = time(nil) - Int(age.components.seconds)
        return names.map { "\(path)/\($0)" }.filter { child in
            var status = stat()
            return stat(child, &status) == 0 && status.modifiedAt <= oldest
        }
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Makes an error from `errno`.
    static func failure(_ action: String) -> BlobStoreError {
        let number = errno
        let code: BlobStoreError.Code = number == ENOENT ? .notFound : .unavailable
        return BlobStoreError(code, "cannot \(action): \(String(cString: strerror(number)))")
    }
}

extension stat {
    fileprivate var modifiedAt: Int {
        #if canImport(Glibc)
            st_mtim.tv_sec
        #else
            st_mtimespec.tv_sec
        #endif
    }
}
