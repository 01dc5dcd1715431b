import NIOCore
import NIOPosix
import Synchronization

/// A TCP server that answers as a test says, for what a real server cannot be made to do: nonsense, silence, a bad start.
final class ScriptedServer: Sendable {
    /// What a new connection is answered when it logs in: `PING`, `CLIENT SETNAME`, `CLIENT ID`.
    static let welcome = "+PONG\r\n+OK\r\n:1\r\n"

    /// What to do when bytes come in.
    enum Answer: Sendable {
        case bytes(String), silence, close
    }

    private let channel: any Channel
    var url: String { "redis://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    /// - Parameter answer: Given how many connections there were before this one, and how many reads of this connection.
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
