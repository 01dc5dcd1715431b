import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import FCMEmulator

@Suite struct WriteCoalescerTests {
    private let channel = EmbeddedChannel(handler: WriteCoalescer())

    @Test func `what is written between two flushes is one buffer`() throws {
        for text in ["head ", "frame ", "body"] { channel.write(ByteBuffer(string: text), promise: nil) }
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        channel.flush()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "head frame body"))
        channel.flush()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    }

    @Test func `a promise is kept when all bytes before it are written`() throws {
        let written = channel.eventLoop.makePromise(of: Void.self)
        let isWritten = NIOLockedValueBox(false)
        written.futureResult.whenSuccess { isWritten.withLockedValue { $0 = true } }
        channel.write(ByteBuffer(string: "a"), promise: nil)
        channel.write(ByteBuffer(string: "b"), promise: written)
        #expect(!isWritten.withLockedValue { $0 })
        channel.flush()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "ab"))
        #expect(isWritten.withLockedValue { $0 })
    }

    @Test func `bytes written past the handler of HTTP/2 stay behind those before them`() throws {
        channel.write(ByteBuffer(string: "answer "), promise: nil)
        channel.write(IOData.byteBuffer(ByteBuffer(string: "goaway")), promise: nil)
        channel.flush()
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "answer goaway"))
    }
}
