import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Serves a stream through the router: the page, the control API, and all other requests that need not be answered at once.
struct RouterBridge: Sendable {
    let responder: any HTTPResponder<EmulatorContext>
    private let logger = Logger(label: "emulator") { _ in SwiftLogNoOpLogHandler() }

    init(responder: some HTTPResponder<EmulatorContext>) { self.responder = responder }

    /// Answers a request on its stream, or resets the stream on an error.
    func respond(to head: HPACKHeaders, body: [UInt8], on channel: any Channel, stream: HTTP2StreamID) async {
        let writer = Writer(channel: channel, stream: stream)
        do {
            let request = try Self.request(head, body)
            let context = EmulatorContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            let response: Response
            do {
                response = try await responder.respond(to: request, context: context)
            } catch let error as any HTTPResponseError {
                response = try error.response(from: request, context: context)
            }
            try await writer.begin(response.head)
            try await response.body.write(writer)
        } catch {
            // The client has disconnected, or sent an invalid request.
            let reset = HTTP2Frame(streamID: stream, payload: .rstStream(.internalError))
            try? await channel.writeAndFlush(reset)
        }
    }

    private static func request(_ headers: HPACKHeaders, _ body: [UInt8]) throws -> Request {
        guard let name = headers.first(name: ":method"), let method = HTTPRequest.Method(name) else {
            throw HTTPError(.badRequest)
        }
        var fields = HTTPFields()
        for (name, value, _) in headers where !name.hasPrefix(":") {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let head = HTTPRequest(
            method: method, scheme: headers.first(name: ":scheme"), authority: headers.first(name: ":authority"),
            path: headers.first(name: ":path"), headerFields: fields)
        return Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
    }

    private struct Writer: ResponseBodyWriter {
        let channel: any Channel
        let stream: HTTP2StreamID

        func begin(_ head: HTTPResponse) async throws {
            var headers: HPACKHeaders = [":status": String(head.status.code)]
            for field in head.headerFields { headers.add(name: field.name.canonicalName, value: field.value) }
            try await send(.headers(.init(headers: headers)))
        }

        mutating func write(_ buffer: ByteBuffer) async throws {
            try await send(.data(.init(data: .byteBuffer(buffer))))
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            try await send(.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
        }

        private func send(_ payload: HTTP2Frame.FramePayload) async throws {
            try await channel.writeAndFlush(HTTP2Frame(streamID: stream, payload: payload))
        }
    }
}
