internal import Foundation

/// Distinguishes a complete archive from a proxy's answer or a truncated one.
enum ExportFile {
    private static let firstSignature: [UInt8] = [0x50, 0x4B, 0x03, 0x04]
    private static let lastSignature: [UInt8] = [0x50, 0x4B, 0x05, 0x06]
    /// The size of the record at the end of an archive without a comment (APPNOTE.TXT §4.3.16).
    private static let lastRecordBytes: UInt64 = 22

    /// Whether a file begins with an entry of a ZIP archive, and ends with the end of its directory. The API writes it last.
    static func isComplete(_ file: URL) -> Bool {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return false }
        defer { try? handle.close() }
        guard let first = try? handle.read(upToCount: 4), Array(first) == firstSignature, let length = try? handle.seekToEnd(),
            length >= lastRecordBytes, (try? handle.seek(toOffset: length - lastRecordBytes)) != nil,
            let last = try? handle.read(upToCount: 4)
        else { return false }
        return Array(last) == lastSignature
    }
}
