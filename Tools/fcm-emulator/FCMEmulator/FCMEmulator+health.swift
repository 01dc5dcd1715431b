import NIOCore
import NIOPosix

extension FCMEmulator {
    /// Whether an emulator answers on that port of this machine, within five seconds.
    public static func isAnswering(port: Int) async -> Bool {
        let answer = try? await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await ask(port: port) }
            group.addTask {
                try await Task.sleep(for: .seconds(5))
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        return answer ?? false
    }

    private static func ask(port: Int) async throws -> Bool {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(
                ByteBuffer(string: "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
            var answer = ByteBuffer()
            for try await part in inbound {
                answer.writeImmutableBuffer(part)
                if answer.readableBytes >= 12 { break }
            }
            return String(buffer: answer).hasPrefix("HTTP/1.1 200")
        }
    }
}
