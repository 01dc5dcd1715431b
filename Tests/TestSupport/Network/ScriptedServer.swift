import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A TCP server that runs a script for each connection: for faults that no real server has.
public final class ScriptedServer: Sendable {
    /// A connection, as a script uses it.
    public struct Connection {
        /// The number of connections that were accepted before it.
        public let number: Int
        private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
        /// Bytes that came with a request and are none of it; the next read begins with them.
        private var rest: [UInt8] = []

        fileprivate init(
            number: Int, inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
            outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
        ) {
            self.number = number
            self.inbound = inbound
            self.outbound = outbound
        }

        /// Reads a whole HTTP/1.1 request and returns its text.
        public mutating func readRequest() async throws -> String {
            let mark = Array("\r\n\r\n".utf8)
            var bytes: [UInt8] = []
            while true {
                bytes += try await read()
                guard let end = bytes.firstRange(of: mark) else { continue }
                let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
                let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst("content-length:".count).filter { $0 != " " }) }
                let count = end.upperBound + (length ?? 0)
                guard bytes.count >= count else { continue }
                rest = Array(bytes[count...])
                return String(decoding: bytes[..<count], as: UTF8.self)
            }
        }

        /// Reads the next bytes, at least one.
        public mutating func read() async throws -> [UInt8] {
            if !rest.isEmpty {
                defer { rest = [] }
                return rest
            }
            while let buffer = try await inbound.next(isolation: #isolation) {
                if buffer.readableBytes > 0 { return Array(buffer.readableBytesView) }
            }
            throw ChannelError.inputClosed
        }

        /// Sends bytes.
        public func write(_ bytes: [UInt8]) async throws {
            try await outbound.write(ByteBuffer(bytes: bytes))
        }

        /// Sends a text.
        public func write(_ text: String) async throws {
            try await outbound.write(ByteBuffer(string: text))
        }

        /// Sends a whole response of HTTP/1.1, after which the connection ends.
        public func writeResponse(_ status: String = "200 OK", body: String) async throws {
            try await write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        }

        /// Waits until the other side closes.
        public mutating func waitForClose() async throws {
            while try await inbound.next(isolation: #isolation) != nil {}
        }
    }

    /// The port it listens on.
    public let port: Int
    private let listener: any Channel
    private let connections: EventCount

    private typealias Wrapped = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// The accepted connections whose script has not begun. NIO ends the process when such a connection is released without being
    /// run, as can happen while the listener closes.
    private final class Arrivals: Sendable {
        private let state = Mutex<(channels: [ObjectIdentifier: Wrapped], isOver: Bool)>(([:], false))

        func add(_ channel: Wrapped) {
            let isOver = state.withLock { state in
                if !state.isOver { state.channels[ObjectIdentifier(channel.channel)] = channel }
                return state.isOver
            }
            if isOver { Task { try? await channel.executeThenClose { _, _ in } } }
        }

        func remove(_ channel: Wrapped) { state.withLock { $0.channels[ObjectIdentifier(channel.channel)] = nil } }

        func closeAll() async {
            let rest = state.withLock { state in
                defer { state = ([:], true) }
                return state.channels.values
            }
            for channel in rest { try? await channel.executeThenClose { _, _ in } }
        }
    }

    /// Starts a server that reads a request of HTTP/1.1 on each connection, answers it and closes.
    public static func answering(_ status: String = "200 OK", body: String = "") async throws -> ScriptedServer {
        try await ScriptedServer { connection in
            _ = try await connection.readRequest()
            try await connection.writeResponse(status, body: body)
        }
    }

    /// The number of accepted connections.
    public var connectionCount: Int { connections.count }

    /// Waits until `count` connections were accepted.
    public func waitForConnections(_ count: Int) async { await connections.wait(for: count) }

    /// The URL of its root.
    public var url: String { "http://127.0.0.1:\(port)/" }

    /// Listens on a free port; runs the script for each connection, which is closed when the script returns.
    public init(_ script: @escaping @Sendable (inout Connection) async throws -> Void) async throws {
        let arrivals = Arrivals()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let arrival = try Wrapped(wrappingChannelSynchronously: channel)
                    arrivals.add(arrival)
                    return arrival
                }
            }
        port = listener.channel.localAddress?.port ?? 0
        let connections = EventCount()
        self.connections = connections
        self.listener = listener.channel
        Task {
            try? await listener.executeThenClose { arriving in
                await withDiscardingTaskGroup { group in
                    var accepted = arriving.makeAsyncIterator()
                    while let channel = try? await accepted.next() {
                        arrivals.remove(channel)
                        let number = connections.add()
                        group.addTask {
                            try? await channel.executeThenClose { inbound, outbound in
                                var connection = Connection(number: number, inbound: inbound.makeAsyncIterator(), outbound: outbound)
                                try await script(&connection)
                            }
                        }
                    }
                    // Every accepted connection must be run, or NIO ends the process.
                    group.cancelAll()
                }
            }
            await arrivals.closeAll()
        }
    }

    deinit { listener.close(promise: nil) }
}
