/// The bytes to be written to a socket, with counts of those produced and offered.
///
/// The buffer is filled only when it is empty, and offered bytes keep their place until they are written: OpenSSL requires that a
/// blocked write is repeated with the same bytes.
struct OutputBuffer: ~Copyable {
    /// Bytes at which the buffer counts as full: one TLS record.
    static let fillByteCount = 16 * 1024

    private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * fillByteCount, alignment: 16)
    private var start = 0
    private var end = 0
    /// Total of bytes appended so far.
    private(set) var producedByteCount: UInt64 = 0
    /// Total of bytes offered to the socket so far; a blocked write may have taken them.
    private(set) var offeredByteCount: UInt64 = 0

    deinit { storage.deallocate() }

    var isEmpty: Bool { start == end }
    var isFull: Bool { end >= Self.fillByteCount }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if storage.count - end < bytes.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * (end + bytes.count), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<end]))
            storage.deallocate()
            storage = larger
        }
        UnsafeMutableRawBufferPointer(rebasing: storage[end..<end + bytes.count]).copyMemory(from: bytes)
        end += bytes.count
        producedByteCount += UInt64(bytes.count)
    }

    /// Returns the bytes to be written next, and counts them as offered.
    mutating func offer() -> UnsafeRawBufferPointer {
        offeredByteCount = producedByteCount
        return UnsafeRawBufferPointer(rebasing: storage[start..<end])
    }

    mutating func remove(_ byteCount: Int) {
        precondition(byteCount <= end - start, "more was written than offered")
        start += byteCount
        if start == end { (start, end) = (0, 0) }
    }
}
