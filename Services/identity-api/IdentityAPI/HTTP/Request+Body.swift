internal import HTTPTypes
internal import Hummingbird
internal import Multipart
internal import NIOCore

extension Request {
    /// The length the request announces; nil when it is chunked.
    var contentLength: Int? { headers[.contentLength].flatMap { Int($0) } }

    /// The most seconds a request may wait.
    static var maxWaitSeconds: Int { 60 }

    /// The seconds that the query parameter `wait` asks for; 0 without it.
    func wait() throws(APIError) -> Int {
        guard let text = uri.queryParameters["wait"] else { return 0 }
        guard let seconds = Int(text), 0...Self.maxWaitSeconds ~= seconds else {
            throw APIError(.invalidRequest, "wait is a number of seconds from 0 to \(Self.maxWaitSeconds)", field: "wait")
        }
        return seconds
    }

    /// The boundary of a multipart body.
    func multipartBoundary() throws(APIError) -> MultipartBoundary {
        do throws(MultipartError) {
            return try MultipartBoundary(contentType: headers[.contentType] ?? "")
        } catch {
            throw error.code == .notMultipart
                ? APIError(.unsupportedMediaType, "The body must be multipart/form-data", underlying: error)
                : APIError(.invalidRequest, "The content type has no usable boundary", underlying: error)
        }
    }

    /// Whether the body says to be JSON.
    var isJSON: Bool {
        let type = headers[.contentType]?.lowercased().prefix { $0 != ";" && $0 != " " }
        return type == "application/json"
    }

    /// Reads the whole body.
    ///
    /// - Throws: `payload_too_large` for more than `maxBytes`; `invalid_request` for a body that comes too slowly or is cut off.
    func collectBody(upTo maxBytes: Int, _ context: APIRequestContext) async throws -> ByteBuffer {
        context.askForBody()
        do {
            return try await body.collect(upTo: maxBytes)
        } catch is NIOTooManyBytesError {
            throw APIError(.payloadTooLarge, "The body is longer than \(maxBytes) bytes")
        } catch let error as CancellationError {
            throw error
        } catch {
            throw APIError.unreadableBody(error)
        }
    }
}

extension APIRequestContext {
    /// Lets a client that asks first send its body.
    func askForBody() { channel.triggerUserOutboundEvent(BodyWanted(), promise: nil) }

    /// Has the handler called, once, if the client closes its side before this request's answer has ended.
    func whenClientHangsUp(_ handler: @escaping @Sendable () -> Void) {
        channel.triggerUserOutboundEvent(HangUpMatters(handler: handler), promise: nil)
    }
}

extension APIError {
    /// What is said when the connection broke, or its framing, or the client's patience: everyday matters, no fault of ours.
    static func unreadableBody(_ error: any Error) -> APIError {
        let message = error is BodyTooSlow ? "The body came too slowly" : "The body was cut off"
        return APIError(.invalidRequest, message, underlying: error)
    }
}
