internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Metrics

/// Turns every error into the error envelope, and logs and counts each request, and says in the response which limits it counted against.
struct EnvelopeMiddleware: RouterMiddleware {
    typealias Context = APIRequestContext

    func handle(
        _ request: Request, context: APIRequestContext,
        next: @concurrent (Request, APIRequestContext) async throws -> Response
    ) async throws -> Response {
        let started = ContinuousClock.now
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as APIError {
            response = refuse(error, request, context)
        } catch let error as any HTTPResponseError {
            response = refuse(Self.translate(error), request, context)
        } catch {
            guard !Task.isCancelled else { throw error }
            let cause = (error as? OutcomeUnknown)?.underlying ?? error
            if let unavailable = APIError(unavailability: cause) {
                response = refuse(unavailable, request, context)
            } else {
                context.logger.error("request failed", metadata: ["error": "\(cause)"])
                response = refuse(.internal, request, context)
            }
        }
        response.headers[.requestID] = context.requestID
        context.limits.write(to: &response.headers)
        note(request, response, context, took: .now - started)
        return response
    }

    /// Logs and counts a request under the pattern of its path, never under the path itself: a path may contain a secret, and the number
    /// of paths is unlimited.
    private func note(_ request: Request, _ response: Response, _ context: APIRequestContext, took duration: Duration) {
        let endpoint = context.endpointPath ?? "unknown"
        context.logger.info(
            "request",
            metadata: [
                "method": "\(request.method)", "endpoint": "\(endpoint)",
                "status": "\(response.status.code)", "ms": "\(duration.wholeMilliseconds)",
            ])
        let method = APIRequestContext.knownMethods.contains(request.method) ? request.method.rawValue : "other"
        Counter(
            label: "http_requests_total",
            dimensions: [("endpoint", endpoint), ("method", method), ("status", "\(response.status.code)")]
        ).increment()
        Timer(label: "http_request_seconds", dimensions: [("endpoint", endpoint), ("method", method)])
            .recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    private func refuse(_ error: APIError, _ request: Request, _ context: APIRequestContext) -> Response {
        let level: Logger.Level = error.code == .internal ? .error : .info
        context.logger.log(level: level, "request refused", metadata: ["error": "\(error)"])
        return Answer.failure(error, requestID: context.requestID, asProblem: request.headers.acceptProblems)
    }

    /// Translates an error of the framework: an unknown path, an unreadable body.
    private static func translate(_ error: any HTTPResponseError) -> APIError {
        switch error.status {
        case .notFound: APIError(.notFound, "There is nothing at this path", underlying: error)
        case .methodNotAllowed: APIError(.methodNotAllowed, "This method is not served here", underlying: error)
        case .contentTooLarge: APIError(.payloadTooLarge, "The body is too large", underlying: error)
        case .unsupportedMediaType: APIError(.unsupportedMediaType, "This content type is not taken", underlying: error)
        case .unauthorized: APIError.unauthorized("A bearer token is needed")
        case let status where status.kind == .clientError:
            APIError(.invalidRequest, "The request cannot be read", underlying: error)
        default: APIError(.internal, APIError.internal.message, underlying: error)
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var wholeMilliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
