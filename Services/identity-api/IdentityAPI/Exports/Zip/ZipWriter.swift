internal import CZlib

/// Writes a ZIP archive as a stream of bytes: files are stored uncompressed, and the size of a file need not be known before its end.
///
/// The writer does no input or output: every method returns the bytes that come next in the archive, and the data of a file is put between
/// them by the caller. The size and the checksum of a file follow its data (data descriptor, APPNOTE.TXT 6.3.10 §4.3.9). The central
/// directory comes last, so that an archive that was cut off is not a valid one. An archive may have any number of bytes, as its end is
/// in the ZIP64 format where that is needed (§4.3.14); one file may have less than 4 GiB.
struct ZipWriter: Sendable {
    /// The maximum number of files, because the writer keeps about 60 bytes and the path of each for the central directory.
    static let maxFiles = 1_000_000
    /// The maximum length of a path in bytes.
    static let maxPathBytes = 1_024
    /// The maximum size of one file in bytes.
    static let maxFileBytes = UInt64(UInt32.max) - 1

    /// A finished file, for the central directory.
    private struct Entry {
        let path: String
        let offset: UInt64
        let checksum: UInt32
        let size: UInt32
    }

    /// The file that is being written.
    private struct OpenFile {
        let path: String
        let offset: UInt64
        var checksum: UInt32 = 0
        var size: UInt64 = 0
    }

    /// The bytes of the archive so far, and those before it.
    private(set) var offset: UInt64
    private let time: ZipTime
    private var entries: [Entry] = []
    private var file: OpenFile?

    /// Begins an archive.
    ///
    /// - Parameters:
    ///   - time: The time of change of all files.
    ///   - offset: The number of bytes before the archive in the file that it is part of.
    init(time: ZipTime, after offset: UInt64 = 0) {
        self.time = time
        self.offset = offset
    }

    /// Ends the previous file and begins a new one.
    ///
    /// - Parameter path: The relative path, its parts separated by slashes: none of them is empty, `.` or `..`.
    /// - Returns: The bytes that come before the data of the file.
    /// - Throws: `invalidPath`, `tooManyFiles`, `fileIsOpen`.
    mutating func begin(_ path: String) throws(ZipError) -> [UInt8] {
        guard file == nil else { throw .fileIsOpen }
        guard entries.count < Self.maxFiles else { throw .tooManyFiles }
        guard Self.isPath(path) else { throw .invalidPath }
        file = OpenFile(path: path, offset: offset)
        var bytes: [UInt8] = []
        bytes.append(little: UInt32(0x0403_4B50))
        appendCommon(to: &bytes)
        // The checksum and both sizes: they follow in the data descriptor.
        bytes.append(contentsOf: [UInt8](repeating: 0, count: 12))
        bytes.append(little: UInt16(path.utf8.count))
        bytes.append(little: UInt16(0))
        bytes.append(contentsOf: path.utf8)
        offset += UInt64(bytes.count)
        return bytes
    }

    /// Takes note of the next data of the file; the caller writes it.
    ///
    /// - Throws: `fileTooLarge`, `noFileIsOpen`.
    mutating func add(_ data: UnsafeRawBufferPointer) throws(ZipError) {
        guard file != nil else { throw .noFileIsOpen }
        guard let start = data.baseAddress, !data.isEmpty else { return }
        let size = (file?.size ?? 0) + UInt64(data.count)
        guard size <= Self.maxFileBytes else { throw .fileTooLarge }
        let checksum = crc32_z(UInt(file?.checksum ?? 0), start.assumingMemoryBound(to: UInt8.self), data.count)
        file?.checksum = UInt32(truncatingIfNeeded: checksum)
        file?.size = size
        offset += UInt64(data.count)
    }

    /// Ends the file.
    ///
    /// - Returns: The bytes that come after the data of the file.
    /// - Throws: `noFileIsOpen`.
    mutating func end() throws(ZipError) -> [UInt8] {
        guard let ended = file else { throw .noFileIsOpen }
        file = nil
        let entry = Entry(
            path: ended.path, offset: ended.offset, checksum: ended.checksum, size: UInt32(truncatingIfNeeded: ended.size))
        entries.append(entry)
        var bytes: [UInt8] = []
        bytes.append(little: UInt32(0x0807_4B50))
        bytes.append(little: entry.checksum)
        bytes.append(little: entry.size)
        bytes.append(little: entry.size)
        offset += UInt64(bytes.count)
        return bytes
    }

    /// Ends the archive. The central directory is returned in pieces, so that an archive of many files needs no large buffer.
    ///
    /// - Returns: The last bytes of the archive, in pieces of at most 64 KiB and one entry.
    /// - Throws: `fileIsOpen`.
    mutating func finish() throws(ZipError) -> [[UInt8]] {
        guard file == nil else { throw .fileIsOpen }
        let start = offset
        var pieces: [[UInt8]] = [[]]
        for entry in entries {
            if pieces[pieces.count - 1].count >= 65_536 { pieces.append([]) }
            let before = pieces[pieces.count - 1].count
            append(entry, to: &pieces[pieces.count - 1])
            offset += UInt64(pieces[pieces.count - 1].count - before)
        }
        let records = endRecords(start: start)
        offset += UInt64(records.count)
        pieces.append(records)
        entries = []
        return pieces
    }

    /// The fields that the header of a file and its entry in the central directory have in common, from the version on.
    private func appendCommon(to bytes: inout [UInt8]) {
        bytes.append(little: UInt16(20))
        // Bit 3: a data descriptor follows the data; bit 11: the path is UTF-8.
        bytes.append(little: UInt16(1 << 3 | 1 << 11))
        bytes.append(little: UInt16(0))
        bytes.append(little: time.time)
        bytes.append(little: time.date)
    }

    private func append(_ entry: Entry, to bytes: inout [UInt8]) {
        let isFar = entry.offset >= UInt64(UInt32.max)
        bytes.append(little: UInt32(0x0201_4B50))
        // Made on Unix, so that the permissions in the external attributes count; by version 4.5, which has ZIP64.
        bytes.append(little: UInt16(3 << 8 | 45))
        appendCommon(to: &bytes)
        bytes.append(little: entry.checksum)
        bytes.append(little: entry.size)
        bytes.append(little: entry.size)
        bytes.append(little: UInt16(entry.path.utf8.count))
        bytes.append(little: UInt16(isFar ? 12 : 0))
        // No comment, the first disk, no internal attributes.
        bytes.append(contentsOf: [UInt8](repeating: 0, count: 6))
        bytes.append(little: UInt32(0o100_600) << 16)
        bytes.append(little: isFar ? UInt32.max : UInt32(truncatingIfNeeded: entry.offset))
        bytes.append(contentsOf: entry.path.utf8)
        if isFar {
            bytes.append(little: UInt16(1))
            bytes.append(little: UInt16(8))
            bytes.append(little: entry.offset)
        }
    }

    /// The end of the central directory, in the ZIP64 format as well if a number does not fit.
    private func endRecords(start: UInt64) -> [UInt8] {
        let (count, size) = (UInt64(entries.count), offset - start)
        var bytes: [UInt8] = []
        if count >= UInt64(UInt16.max) || size >= UInt64(UInt32.max) || start >= UInt64(UInt32.max) {
            bytes.append(little: UInt32(0x0606_4B50))
            bytes.append(little: UInt64(44))
            bytes.append(little: UInt16(3 << 8 | 45))
            bytes.append(little: UInt16(45))
            bytes.append(little: UInt64(0))
            bytes.append(little: count)
            bytes.append(little: count)
            bytes.append(little: size)
            bytes.append(little: start)
            bytes.append(little: UInt32(0x0706_4B50))
            bytes.append(little: UInt32(0))
            bytes.append(little: offset)
            bytes.append(little: UInt32(1))
        }
        bytes.append(little: UInt32(0x0605_4B50))
        bytes.append(little: UInt32(0))
        bytes.append(little: UInt16(min(count, UInt64(UInt16.max))))
        bytes.append(little: UInt16(min(count, UInt64(UInt16.max))))
        bytes.append(little: UInt32(min(size, UInt64(UInt32.max))))
        bytes.append(little: UInt32(min(start, UInt64(UInt32.max))))
        bytes.append(little: UInt16(0))
        return bytes
    }

    private static func isPath(_ path: String) -> Bool {
        path.utf8.count <= maxPathBytes && !path.utf8.contains(0) && !path.utf8.contains(UInt8(ascii: "\\"))
            && path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
                !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
            }
    }
}

extension [UInt8] {
    /// Appends an integer, its least byte first.
    fileprivate mutating func append(little value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
