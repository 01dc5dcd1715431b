internal import HTTPTypes
internal import Hummingbird
internal import Multipart
internal import NIOCore

extension Request {
    /// The number of bytes of the body that `Content-Length` announces; nil without it.
    var bodyLength: Int? { headers[.contentLength].flatMap { Int($0) } }

    /// Refuses a body that is declared to be larger than `maxBytes`, before it is read.
    func checkContentLength(upTo maxBytes: Int) throws(APIError) {
        guard let bodyLength, bodyLength > maxBytes else { return }
        throw APIError(.payloadTooLarge, "The body is larger than \(maxBytes / 1_048_576) MB")
    }

    /// A parameter of the query; nil if it is missing or has no visible character.
    func query(_ name: String) -> String? {
        guard let text = uri.queryParameters[name[...]].map({ String($0) }), !text.showsNothing else { return nil }
        return text
    }

    /// The maximum number of seconds that a request may wait.
    static var maxWaitSeconds: Int { 60 }

    /// The seconds in the query parameter `wait`; 0 without it.
    func wait() throws(APIError) -> Int {
        guard let text = query("wait") else { return 0 }
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

    /// Whether the content type is JSON.
    var isJSON: Bool {
        let type = headers[.contentType]?.lowercased().prefix { $0 != ";" && $0 != " " } ?? ""
        return type == "application/json" || type == "text/json" || type.hasPrefix("application/") && type.hasSuffix("+json")
    }

    /// Reads a JSON body; one that is not needed may be empty, and has no type then.
    ///
    /// - Throws: `unsupported_media_type` for another type, and the errors of ``collectBody(upTo:_:)``.
    func collectJSON(upTo maxBytes: Int, isRequired: Bool = true, _ context: APIRequestContext) async throws -> [UInt8] {
        let refusal = APIError(.unsupportedMediaType, "The body must be application/json")
        guard isJSON || !isRequired else { throw refusal }
        let bytes = Array(try await collectBody(upTo: maxBytes, context).readableBytesView)
        guard isJSON || bytes.isEmpty else { throw refusal }
        return bytes
    }

    /// Reads the whole body.
    ///
    /// - Throws: `payload_too_large` for more than `maxBytes`; `request_timeout` for a body that arrives too slowly or is cut off.
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
    /// Requests the body from a client that waits for `100 Continue`.
    func askForBody() { channel.triggerUserOutboundEvent(BodyWanted(), promise: nil) }

    /// Calls the handler, once, if the client closes its side before this request's response has ended.
    func whenClientHangsUp(_ handler: @escaping @Sendable () -> Void) {
        channel.triggerUserOutboundEvent(HangUpMatters(handler: handler), promise: nil)
    }
}

extension APIError {
    /// The error for a body that cannot be read because the connection broke, its framing is invalid, it arrived too slowly, or its slot
    /// was needed: ordinary events, not faults of the server.
    static func unreadableBody(_ error: any Error) -> APIError {
        var refusal =
            switch error {
            case is BodyTooSlow: APIError(.requestTimeout, "The body came too slowly: send it again", underlying: error)
            case is BodyDisplaced: overloaded("Too many transfers at the moment")
            default: cutOff("The body was cut off", error)
            }
        refusal.headers[.connection] = "close"
        return refusal
    }

    /// The error for a body that was cut off on its way, as happens on mobile networks: the same request can succeed later.
    static func cutOff(_ message: String, _ error: any Error) -> APIError {
        APIError(.requestTimeout, "\(message): send it again", underlying: error)
    }
}
