internal import FoundationEssentials
internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import WireFormat

/// An outbound event of a request's handler: it is going to read the body, so a client that waits for `100 Continue` may send it.
struct BodyWanted: Sendable {}

/// An outbound event of a request's handler that waits: calls `handler` when the client hangs up.
struct HangUpMatters: Sendable {
    let handler: @Sendable () -> Void
}

/// Tracks the requests and responses of one connection, and reports to its ``ConnectionGuard`` the bodies that the client still has to
/// send.
///
/// Every announced body is tracked from the head to its end, whether or not it is read and whatever the response is: a client that
/// drips into a refused request holds a connection like any other. Corrections that apply to every response are made here as well.
final class RequestWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The maximum number of bytes of a body that are read after the response so that the connection can be reused.
    private static let maxDrainedBytes = 64 * 1024

    /// The requests that have begun and whose responses have not ended, in order.
    private var unanswered = CircularBuffer<(method: HTTPMethod, version: HTTPVersion)>()
    /// The bytes of its body that the last request has announced and not sent: nil when it is complete, `.max` when it is chunked.
    private var bytesToCome: Int?
    /// Whether the last request's client waits for `100 Continue`.
    private var asksFirst = false
    /// Whether the connection is closed after the current response.
    private var closesAfterAnswer = false
    /// Whether the client has closed its side.
    private var isHungUp = false
    /// Why the bytes that came are no request.
    private var fault: HTTPParserError?
    /// The handler to call when the client hangs up before the response has ended.
    private var whenHungUp: (@Sendable () -> Void)?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var data = data
        switch unwrapInboundIn(data) {
        case .head(var head):
            unanswered.append((head.method, head.version))
            tell(.requestBegan, context)
            if let uri = PathSpelling.decoded(head.uri) {
                head.uri = uri
                data = wrapInboundOut(.head(head))
            }
            if head.version == .http1_0 {
                // The end of the connection is what such a client waits for: it has no chunks.
                head.headers.replaceOrAdd(name: "Connection", value: "close")
                data = wrapInboundOut(.head(head))
            }
            let announced = Self.announcedBytes(head.headers)
            bytesToCome = announced
            asksFirst = announced > 0 && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
            if announced > 0, !asksFirst { tell(.bodyBegan, context) }
        case .body(let bytes):
            if asksFirst { tell(.bodyBegan, context) }
            asksFirst = false
            if let left = bytesToCome, left < .max { bytesToCome = left - bytes.readableBytes }
        case .end:
            bytesToCome = nil
            asksFirst = false
            tell(.bodyEnded, context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where unanswered.isEmpty:
            // The framework's own response to bytes that are not a request is replaced by the error envelope.
            closesAfterAnswer = true
            let (replacement, body) = Self.answerToNoRequest(fault, version: head.version)
            context.write(wrapOutboundOut(.head(replacement)), promise: promise)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        case .head(var head):
            if unanswered.first?.version == .http1_0 { head.version = .http1_0 }
            if isTooMuchToCome {
                closesAfterAnswer = true
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            _ = unanswered.popFirst()
            whenHungUp = nil
            context.writeAndFlush(data, promise: promise)
            tell(closesAfterAnswer ? .answeredEarly : .answered, context)
        case .body where unanswered.first?.method == .HEAD:
            // The client would take a body for the response to its next request; the framework does not drop it.
            promise?.succeed()
        case .body:
            context.write(data, promise: promise)
        }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event {
        case is BodyWanted:
            promise?.succeed()
            guard asksFirst, unanswered.count == 1 else { return }
            asksFirst = false
            tell(.bodyAskedFor, context)
        case let event as HangUpMatters:
            promise?.succeed()
            if isHungUp { event.handler() } else { whenHungUp = event.handler }
        default:
            context.triggerUserOutboundEvent(event, promise: promise)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { hangUp() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fault = error as? HTTPParserError
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        hangUp()
        context.fireChannelInactive()
    }

    private func hangUp() {
        isHungUp = true
        whenHungUp?()
        whenHungUp = nil
    }

    /// Whether the rest of the current request's body is too long to be worth reading.
    private var isTooMuchToCome: Bool {
        guard unanswered.count == 1, let bytesToCome else { return false }
        return asksFirst || bytesToCome > Self.maxDrainedBytes
    }

    private func tell(_ event: ClientEvent, _ context: ChannelHandlerContext) {
        context.triggerUserOutboundEvent(event, promise: nil)
    }

    private static func announcedBytes(_ headers: HTTPHeaders) -> Int {
        if headers.contains(name: "Transfer-Encoding") { return .max }
        return headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
    }

    private static func answerToNoRequest(_ fault: HTTPParserError?, version: HTTPVersion) -> (HTTPResponseHead, ByteBuffer) {
        let id = UUID().wireString
        let (status, message) = fault.answer
        let error = APIError(.invalidRequest, message)
        let body = ByteBuffer(string: Answer.envelope(error, requestID: id).text)
        let headers: HTTPHeaders = [
            "Content-Type": "application/json", "Content-Length": "\(body.readableBytes)", "Connection": "close",
            "X-Request-ID": id,
        ]
        return (HTTPResponseHead(version: version, status: status, headers: headers), body)
    }
}
