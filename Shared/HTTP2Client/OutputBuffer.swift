/// Bytes on their way to a socket, and how far they have come.
///
/// It is filled only when it is empty, and what was offered once keeps its place until it has gone: OpenSSL wants a write
/// that was blocked to be tried again with the same bytes.
struct OutputBuffer: ~Copyable {
    /// What a fill aims at, in bytes: one record of TLS.
    static let fillByteCount = 16 * 1024

    private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * fillByteCount, alignment: 16)
    private var start = 0
    private var end = 0
    /// How many bytes were ever put in.
    private(set) var producedByteCount: UInt64 = 0
    /// How many of them a socket was ever asked to take; it may have taken them even when it said no.
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

    /// Returns what is to be written next, and counts it as offered.
    mutating func offer() -> UnsafeRawBufferPointer {
        offeredByteCount = producedByteCount
        return UnsafeRawBufferPointer(rebasing: storage[start..<end])
    }

    mutating func remove(_ byteCount: Int) {
        start += byteCount
        if start == end { (start, end) = (0, 0) }
    }
}
