import NIOCore
import NIOPosix
import Synchronization

/// A TCP server with answers set by the test, for behaviour that a real server cannot be made to show: invalid bytes, silence, a
/// failed log-in.
final class ScriptedServer: Sendable {
    /// The answer to the log-in of a connection: `PING`, `CLIENT SETNAME`, `CLIENT ID`.
    static let welcome = "+PONG\r\n+OK\r\n:1\r\n"

    /// The reaction to received bytes.
    enum Answer: Sendable {
        case bytes(String), silence, close
    }

    private let channel: any Channel
    var url: String { "redis://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    /// - Parameter answer: Receives the number of earlier connections, and the number of earlier reads of this connection.
    static func start(
        _ answer: @escaping @Sendable (_ connection: Int, _ read: Int) -> Answer
    ) async throws -> ScriptedServer {
        let counter = Counter()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = Handler(connection: counter.next(), answer: answer)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return ScriptedServer(channel: channel)
    }

    private init(channel: any Channel) {
        self.channel = channel
    }

    func stop() async {
        try? await channel.close()
    }

    private final class Counter: Sendable {
        private let value = Atomic(0)

        func next() -> Int { value.add(1, ordering: .relaxed).oldValue }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let connection: Int
        private let answer: @Sendable (Int, Int) -> Answer
        private var reads = 0

        init(connection: Int, answer: @escaping @Sendable (Int, Int) -> Answer) {
            self.connection = connection
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            defer { reads += 1 }
            switch answer(connection, reads) {
            case .bytes(let text): context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
            case .silence: break
            case .close: context.close(promise: nil)
            }
        }
    }
}
