internal import HTTPTypes
internal import Hummingbird

/// Refuses bodies with a content coding such as `gzip`: pictures are compressed already, and other bodies are short.
struct ContentCodingMiddleware: RouterMiddleware {
    typealias Context = APIRequestContext

    func handle(
        _ request: Request, context: APIRequestContext,
        next: @concurrent (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        let coding = request.headers[.contentEncoding]?.lowercased() ?? ""
        guard coding.isEmpty || coding == "identity" else {
            var error = APIError(.unsupportedMediaType, "The body has a Content-Encoding: send it as it is")
            // RFC 9110 §12.5.3: in a response, what the server takes.
            error.headers[.acceptEncoding] = "identity"
            throw error
        }
        return try await next(request, context)
    }
}
