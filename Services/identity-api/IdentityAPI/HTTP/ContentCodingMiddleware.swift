internal import HTTPTypes
internal import Hummingbird

/// Refuses bodies with a content coding such as `gzip`: pictures are compressed already, and other bodies are short.
///
/// Without a body, the header says nothing. A transfer coding other than `chunked` is refused as well: the server would read the body
/// without decoding it.
struct ContentCodingMiddleware: RouterMiddleware {
    typealias Context = APIRequestContext

    /// The values that clients send for no coding; some belong in other headers.
    private static let noCodings: Set<String> = [
        "", "identity", "none", "null", "undefined", "utf-8", "utf8", "7bit", "8bit", "binary",
    ]

    func handle(
        _ request: Request, context: APIRequestContext,
        next: @concurrent (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        let transfer = Self.codings(request.headers[values: .transferEncoding])
        guard transfer.isEmpty || transfer == ["chunked"] else {
            var error = APIError(.unsupportedMediaType, "The body has a Transfer-Encoding beside chunked: send it as it is")
            // RFC 9112 §6.1.
            error.status = .notImplemented
            throw error
        }
        let hasBody = !transfer.isEmpty || request.bodyLength ?? 0 > 0
        guard !hasBody || Self.codings(request.headers[values: .contentEncoding]).isEmpty else {
            var error = APIError(.unsupportedMediaType, "The body has a Content-Encoding: send it as it is")
            // RFC 9110 §12.5.3: in a response, the codings that the server accepts.
            error.headers[.acceptEncoding] = "identity"
            throw error
        }
        return try await next(request, context)
    }

    private static func codings(_ values: [String]) -> [String] {
        values.flatMap { $0.lowercased().split(separator: ",") }.map { String($0).trimmed }.filter { !noCodings.contains($0) }
    }
}
