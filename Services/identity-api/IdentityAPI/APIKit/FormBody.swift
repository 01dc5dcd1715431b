internal import Hummingbird
internal import Multipart

/// A form with pictures, which the handler reads piece by piece. Only its head is checked before.
protocol FormBody: APIRequestBody {
    static var schema: JSONSchema { get }
    /// The maximum size that may be announced; the handler holds the bytes that arrive to its own limit.
    static var maxBytes: Int { get }

    init(stream: FormStream)
}

extension FormBody {
    static var description: APIBody? { .form(schema, upTo: maxBytes) }

    static func read(_ request: Request, _: APIRequestContext) async throws -> Self {
        let boundary = try request.multipartBoundary()
        try request.checkContentLength(upTo: maxBytes)
        return Self(stream: FormStream(bytes: request.body, boundary: boundary))
    }
}

/// The bytes of a form, none of which has been read.
struct FormStream: Sendable {
    let bytes: RequestBody
    let boundary: MultipartBoundary
}
