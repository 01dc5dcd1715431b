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
        // Where the channel needs it still, a small one: a server that does not read would otherwise be sent little in much memory.
        if memory.capacity > 0 { memory.clear(minimumCapacity: 0) }
        return memory
    }
}
