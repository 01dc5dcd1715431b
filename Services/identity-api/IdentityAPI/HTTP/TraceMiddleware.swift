internal import HTTPTypes
internal import HeliographTracing
internal import Hummingbird
internal import Tracing

/// Gives every request an id and a span. Spans of its work, here and in the other services, are children of that span, and each log
/// line of its work has its ids.
///
/// The span contains no personal data and no secrets: no path, no query, no address, no header. Its attributes follow OpenTelemetry's
/// conventions for HTTP servers.
struct TraceMiddleware: RouterMiddleware {
    typealias Context = APIRequestContext

    func handle(
        _ request: Request, context: APIRequestContext,
        next: @concurrent (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.requestID = APIRequestContext.requestID(from: request.headers[.requestID])
        let parent = request.headers[.traceparent].flatMap(TraceParent.init)
        let span = startSpan(request.method.rawValue, context: .below(parent, isForeign: parent != nil), ofKind: .server)
        defer { span.end() }
        context.traceparent = span.context.traceParent?.description
        do {
            let work = WorkContext(requestID: context.requestID, traceparent: context.traceparent)
            let response = try await WorkContext.$current.withValue(work) { [context] in
                try await InstrumentationContext.withValue(span.context) { try await next(request, context) }
            }
            describe(request, response.status, context, in: span)
            return response
        } catch {
            span.recordError(error)
            throw error
        }
    }

    private func describe(_ request: Request, _ status: HTTPResponse.Status, _ context: APIRequestContext, in span: any Span) {
        guard span.isRecording else { return }
        let method = APIRequestContext.knownMethods.contains(request.method) ? request.method.rawValue : "_OTHER"
        span.operationName = [method, context.endpointPath].compactMap { $0 }.joined(separator: " ")
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method
            attributes["http.route"] = context.endpointPath
            attributes["http.response.status_code"] = status.code
            attributes["url.scheme"] = "http"
            attributes["heliograph.request_id"] = context.requestID
            if status.code >= 500 { attributes["error.type"] = "\(status.code)" }
        }
        if status.code >= 500 { span.setStatus(SpanStatus(code: .error)) }
    }
}
