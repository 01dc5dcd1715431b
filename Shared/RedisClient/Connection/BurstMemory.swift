import NIOCore

/// Keeps the memory of the last burst for the next one, since fresh memory costs a page fault for each page.
struct BurstMemory {
    /// The most memory that is kept: twice as much for a connection, as one burst is collected while the memory of another is kept.
    static let maxIdleCapacity = 256 << 10

    private var last = ByteBuffer()

    /// Keeps the memory of a burst that was given to the channel.
    mutating func keep(_ burst: ByteBuffer) {
        if burst.capacity <= Self.maxIdleCapacity { last = burst }
    }

    /// Returns an empty buffer, in the kept memory unless the channel has yet to write from that.
    mutating func take() -> ByteBuffer {
        var memory = ByteBuffer()
        swap(&memory, &last)
        // If the channel still holds the memory, the buffer begins small, so that a server that reads nothing does not pin a large one.
        if memory.capacity > 0 { memory.clear(minimumCapacity: 0) }
        return memory
    }
}
