import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// Presents a connection of HTTP/1.1 as an HTTP/2 connection with one stream at a time, so that ``EmulatorConnection`` serves both.
final class HTTP1Codec: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTPServerResponsePart

    /// The stream of the request that is read or answered.
    private var stream = HTTP2StreamID(1)
    /// Whether the connection takes another request after this one.
    private var isKeptAlive = true

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isKeptAlive = head.isKeepAlive
            var headers: HPACKHeaders = [
                ":method": head.method.rawValue, ":scheme": "http", ":path": head.uri, ":authority": head.headers.first(name: "host") ?? "",
            ]
            for (name, value) in head.headers { headers.add(name: name.lowercased(), value: value) }
            pass(.headers(.init(headers: headers)), context)
        case .body(let bytes): pass(.data(.init(data: .byteBuffer(bytes))), context)
        case .end: pass(.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)), context)
        }
    }

    private func pass(_ payload: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext) {
        context.fireChannelRead(wrapInboundOut(HTTP2Frame(streamID: stream, payload: payload)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data).payload {
        case .headers(let headers):
            write(headers.headers, context, headers.endStream ? nil : promise)
            if headers.endStream { end(context, promise) }
        case .data(let data):
            if case .byteBuffer(let bytes) = data.data, bytes.readableBytes > 0 || !data.endStream {
                context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: data.endStream ? nil : promise)
            }
            if data.endStream { end(context, promise) }
        case .rstStream: context.close(promise: promise)
        default: promise?.succeed()
        }
    }

    private func write(_ headers: HPACKHeaders, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        let status = headers.first(name: ":status").flatMap { Int($0) } ?? 500
        var fields = HTTPHeaders(headers.filter { !$0.name.hasPrefix(":") }.map { ($0.name, $0.value) })
        if fields.first(name: "connection") == "close" { isKeptAlive = false }
        if !isKeptAlive { fields.replaceOrAdd(name: "connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private func end(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        let ended = stream
        stream = stream.advanced(by: 2)
        if isKeptAlive {
            context.write(wrapOutboundOut(.end(nil)), promise: promise)
        } else {
            let written = promise ?? context.eventLoop.makePromise()
            // Close only after everything is written, because closing drops unwritten data.
            written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        }
        context.fireUserInboundEventTriggered(StreamClosedEvent(streamID: ended, reason: nil))
    }
}
