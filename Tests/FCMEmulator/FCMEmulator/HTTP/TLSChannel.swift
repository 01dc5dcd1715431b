import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import NIOHTTPTypesHTTP2
import NIOSSL

/// One TLS connection: HTTP/2, or HTTP/1.1 for those who do not offer it.
///
/// It is Hummingbird's own but for what that does not let one set. NIO ends a connection, and every request under way
/// on it, when its client resets more than 200 streams in 30 seconds. libcurl 7.88 resets many a stream whose answer it
/// has read (`RST_STREAM` with `STREAM_CLOSED`), so a busy client of it gets there. What FCM does then is not known.
struct TLSChannel: HTTPChannelHandler {
    typealias Stream = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>
    typealias Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<Stream>

    struct Value: ServerChildChannelValue {
        let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<HTTP1Channel.Value, Streams>>
        let channel: any Channel
    }

    /// The most streams a client may reset on a connection within 30 seconds.
    private static let resetsMax = 1_000_000

    let responder: Responder
    private let http1: HTTP1Channel
    private let context: NIOSSLContext
    private let connections: ConnectionTracker

    init(_ configuration: TLSConfiguration, connections: ConnectionTracker, responder: @escaping Responder) throws {
        var configuration = configuration
        configuration.applicationProtocols = NIOHTTP2SupportedALPNProtocols
        // Of idle clients nobody answers a goodbye; by default each stop would wait five seconds for one.
        configuration.shutdownTimeout = .milliseconds(100)
        context = try NIOSSLContext(configuration: configuration)
        http1 = HTTP1Channel(responder: responder)
        self.connections = connections
        self.responder = responder
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        connections.add(channel)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }.flatMap {
            channel.configureHTTP2AsyncSecureUpgrade { channel in
                http1.setup(channel: channel, logger: logger)
            } http2ConnectionInitializer: { channel in
                Self.configureHTTP2(channel)
            }
        }.map { Value(negotiated: $0, channel: channel) }
    }

    private static func configureHTTP2(_ channel: any Channel) -> EventLoopFuture<Streams> {
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.stream.streamResetFrameRateLimit.maximumCount = resetsMax
        // NIO announces SETTINGS_MAX_CONCURRENT_STREAMS = 100, which is what FCM announces.
        return channel.configureAsyncHTTP2Pipeline(mode: .server, configuration: configuration) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTPServerCodec())
                return try Stream(wrappingChannelSynchronously: stream)
            }
        }
    }

    /// Serves a connection until it is closed; being cancelled closes it.
    ///
    /// The streams are taken by a task that is never cancelled: a stream that is waiting when the taking is cancelled
    /// would be dropped with its writer open, for which NIO ends the process. A closed connection ends the taking too,
    /// after the last stream.
    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            await Task { await serve(value, logger: logger) }.value
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }

    private func serve(_ value: Value, logger: Logger) async {
        do {
            switch try await value.negotiated.get() {
            case .http1_1(let connection): await http1.handle(value: connection, logger: logger)
            case .http2(let streams):
                try await withThrowingDiscardingTaskGroup { group in
                    for try await stream in streams.inbound {
                        group.addTask { await handleHTTP(asyncChannel: stream, logger: logger) }
                    }
                    // Whoever still waits, waits for a connection that is gone.
                    group.cancelAll()
                }
            }
        } catch {
            logger.debug("A connection ended", metadata: ["error": "\(error)"])
        }
    }
}
