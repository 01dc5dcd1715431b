import NIOCore
import Testing

@testable import RedisClient

@Suite struct BurstMemoryTests {
    private func burst(_ byte: UInt8, count: Int) -> ByteBuffer { ByteBuffer(repeating: byte, count: count) }

    @Test func `The memory of a burst that was written takes the next one`() {
        var memory = BurstMemory()
        memory.keep(burst(1, count: 100_000))
        let next = memory.take()
        #expect(next.capacity >= 100_000 && next.readableBytes == 0)
        #expect(memory.take().capacity == 0, "it is given out once")
    }

    @Test func `A burst that is not written keeps its memory and bytes, and the next one begins small`() {
        var memory = BurstMemory()
        let waiting = burst(1, count: 100_000)
        memory.keep(waiting)
        var next = memory.take()
        #expect(next.capacity < 1_000)
        next.writeRepeatingByte(2, count: 50)
        #expect(waiting == burst(1, count: 100_000))
    }

    @Test func `The memory of a large burst is given back`() {
        var memory = BurstMemory()
        memory.keep(burst(1, count: BurstMemory.maxIdleCapacity + 1))
        #expect(memory.take().capacity == 0)
    }
}
