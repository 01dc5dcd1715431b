internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1

/// Said by the code that answers a request: it is going to read the body, so a client that asks first may send it.
struct BodyWanted: Sendable {}

/// Said by the code that answers a request and takes its time: it wants to know when the client hangs up.
struct HangUpMatters: Sendable {
    let handler: @Sendable () -> Void
}

/// Follows the requests and answers of one connection, and tells its ``ConnectionGuard`` what the client owes.
///
/// Every body that is announced is watched from the head to its end, whoever reads it and whatever is answered: a client
/// that drips into a refused request holds a connection like any other. What has to be right about an answer whatever it
/// says is seen to here as well.
final class RequestWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The most bytes of a body that are read after the answer for the sake of using the connection again.
    private static let maxDrainedBytes = 64 * 1024

    /// The methods of the requests that began and whose answers have not ended, in their order.
    private var unanswered = CircularBuffer<HTTPMethod>()
    /// What the last request announced of its body and has not sent: nil when it is complete, `.max` when nobody knows.
    private var bytesToCome: Int?
    /// Whether the last request's client waits to be told to send the body.
    private var asksFirst = false
    /// Whether the answer under way says that the connection is closed after it.
    private var closesAfterAnswer = false
    /// Whether the client has closed its side.
    private var isHungUp = false
    /// Who wants to know, until the answer has ended.
    private var whenHungUp: (@Sendable () -> Void)?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            unanswered.append(head.method)
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
            // The framework's own answer to bytes that are no request: the envelope takes its place.
            closesAfterAnswer = true
            let (replacement, body) = Self.answerToNoRequest(version: head.version)
            context.write(wrapOutboundOut(.head(replacement)), promise: promise)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        case .head(var head) where isTooMuchToCome:
            closesAfterAnswer = true
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            _ = unanswered.popFirst()
            whenHungUp = nil
            context.writeAndFlush(data, promise: promise)
            tell(closesAfterAnswer ? .answeredEarly : .answered, context)
        case .body where unanswered.first == .HEAD:
            // The client takes what follows the head for the answer to its next request; the framework does not know.
            promise?.succeed()
        case .head, .body:
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

    func channelInactive(context: ChannelHandlerContext) {
        hangUp()
        context.fireChannelInactive()
    }

    private func hangUp() {
        isHungUp = true
        whenHungUp?()
        whenHungUp = nil
    }

    /// Whether the request that is being answered owes more than is worth reading.
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

    private static func answerToNoRequest(version: HTTPVersion) -> (HTTPResponseHead, ByteBuffer) {
        let id = UUID().uuidString.lowercased()
        let error = APIError(.invalidRequest, "The request cannot be read")
        let body = ByteBuffer(string: Answer.envelope(error, requestID: id).text)
        let headers: HTTPHeaders = [
            "Content-Type": "application/json", "Content-Length": "\(body.readableBytes)", "Connection": "close",
            "X-Request-ID": id,
        ]
        return (HTTPResponseHead(version: version, status: .badRequest, headers: headers), body)
    }
}
