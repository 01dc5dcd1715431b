import NIOCore
import NIOEmbedded
import Testing

@testable import IdentityAPI

/// Tests the guard of a connection on an embedded channel, whose clock and flushes the tests control.
@Suite struct ConnectionGuardTests {
    /// A wait until a response is flushed, and its outcome.
    private final class Wait {
        private(set) var outcome: Result<Void, any Error>?

        init(on channel: EmbeddedChannel) {
            let promise = channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenComplete { self.outcome = $0 }
            channel.triggerUserOutboundEvent(FlushedEvent(), promise: promise)
        }

        var hasSucceeded: Bool { if case .success = outcome { true } else { false } }
        var hasFailed: Bool { if case .failure = outcome { true } else { false } }
    }

    private func connection(_ configure: (inout ConnectionGuard.Limits) -> Void = { _ in }) throws -> EmbeddedChannel {
        var limits = ConnectionGuard.Limits()
        configure(&limits)
        let channel = EmbeddedChannel(handler: ConnectionGuard(limits: limits))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return channel
    }

    private func write(_ count: Int, to channel: EmbeddedChannel) {
        channel.write(IOData.byteBuffer(ByteBuffer(repeating: 7, count: count)), promise: nil)
    }

    @Test func `a response is flushed when its last slice is`() throws {
        let channel = try connection()
        #expect(Wait(on: channel).hasSucceeded, "nothing is written")
        write(1_000_000, to: channel)
        let wait = Wait(on: channel)
        #expect(wait.outcome == nil)
        channel.flush()
        #expect(wait.hasSucceeded)
        write(1, to: channel)
        #expect(Wait(on: channel).outcome == nil, "the next piece is waited for again")
        channel.flush()
        _ = try channel.finish()
    }

    @Test func `a wait for a flush fails when the connection closes`() throws {
        let channel = try connection()
        write(1_000_000, to: channel)
        let wait = Wait(on: channel)
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
        #expect(wait.hasFailed)
    }

    @Test func `a wait for a flush fails when the write fails`() throws {
        let channel = try connection()
        try channel.pipeline.syncOperations.addHandler(Broken(), position: .first)
        write(1, to: channel)
        let wait = Wait(on: channel)
        channel.flush()
        #expect(wait.hasFailed)
        _ = try channel.finish()
    }

    @Test func `a head that is not complete after ten seconds ends the connection, however it drips`() throws {
        let channel = try connection()
        for _ in 0..<5 {
            try channel.writeInbound(ByteBuffer(string: "G"))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!channel.isActive)
    }

    @Test func `a request that has begun, and a connection without one, are not heads that wait`() throws {
        let channel = try connection()
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        try channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        channel.triggerUserOutboundEvent(ClientEvent.requestBegan, promise: nil)
        channel.triggerUserOutboundEvent(ClientEvent.bodyEnded, promise: nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func `the linger time of a slow body begins with its response`() throws {
        let channel = try connection {
            $0.patience = .zero
            $0.lingerTime = .zero
        }
        try beginSlowBody(on: channel)
        tick(channel)
        #expect(channel.isActive, "its answer is not written yet")
        channel.triggerUserOutboundEvent(ClientEvent.answered, promise: nil)
        tick(channel)
        #expect(!channel.isActive)
    }

    @Test func `a body whose slot another client needs is refused, and a complete one is not`() throws {
        let channel = try connection { _ in }
        channel.triggerUserOutboundEvent(ClientEvent.bodyBegan, promise: nil)
        channel.triggerUserOutboundEvent(ClientEvent.bodyDisplaced, promise: nil)
        #expect(throws: BodyDisplaced.self) { try channel.throwIfErrorCaught() }
        channel.triggerUserOutboundEvent(ClientEvent.answered, promise: nil)
        let complete = try connection { _ in }
        complete.triggerUserOutboundEvent(ClientEvent.bodyBegan, promise: nil)
        complete.triggerUserOutboundEvent(ClientEvent.bodyEnded, promise: nil)
        complete.triggerUserOutboundEvent(ClientEvent.bodyDisplaced, promise: nil)
        try complete.throwIfErrorCaught()
    }

    @Test func `the time for the response to a slow body is limited`() throws {
        let channel = try connection {
            $0.patience = .zero
            $0.refusalTime = .zero
        }
        try beginSlowBody(on: channel)
        tick(channel)
        #expect(!channel.isActive)
    }

    /// Begins to read a body, and waits until the guard reports it as too slow.
    private func beginSlowBody(on channel: EmbeddedChannel) throws {
        channel.triggerUserOutboundEvent(ClientEvent.bodyBegan, promise: nil)
        channel.read()
        tick(channel)
        #expect(throws: BodyTooSlow.self) { try channel.throwIfErrorCaught() }
        #expect(channel.isActive)
    }

    /// Advances the clock by one check of the guard.
    private func tick(_ channel: EmbeddedChannel) {
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(500))
    }
}

/// A handler that accepts writes and fails them at the flush.
private final class Broken: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        promises += promise.map { [$0] } ?? []
    }

    func flush(context: ChannelHandlerContext) {
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
        promises = []
    }
}
