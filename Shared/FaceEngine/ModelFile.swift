#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads model files.
enum ModelFile {
    /// Returns the bytes of a file, of which at most `limit` are read; nil when it cannot be opened.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        guard let handle = fopen(path, "rb") else { return nil }
        defer { fclose(handle) }
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = fread(buffer.baseAddress, 1, buffer.count, handle)
        }
    }
}
