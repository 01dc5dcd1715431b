internal import HTTPTypes
internal import Hummingbird

/// The paths of the API and who answers them.
struct APIRoutes: Sendable {
    let uploads: UploadController
    let sessions: SessionController
    let tokens: TokenController
    let limit: RateLimitMiddleware

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete]

    func buildRouter() -> Router<APIRequestContext> {
        let router = Router(context: APIRequestContext.self)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: EnvelopeMiddleware())
        router.add(middleware: limit)
        on(router, .post, "/api/v1/ekyc/upload-photos") { try await uploads.upload(.signUp, $0, $1) }
        on(router, .post, "/api/v1/ekyc/login") { try await uploads.upload(.signIn, $0, $1) }
        on(router, .get, "/api/v1/ekyc/sessions/:id") { try await sessions.status($0, $1) }
        on(router, .post, "/api/v1/ekyc/sessions/:id/token") { try await tokens.redeem($0, $1) }
        on(router, .post, "/api/v1/auth/refresh") { try await tokens.refresh($0, $1) }
        on(router, .post, "/api/v1/auth/logout") { try await tokens.logout($0, $1) }
        return router
    }

    /// Serves one method of a path, and says so to whoever tries another.
    private func on(
        _ router: Router<APIRequestContext>, _ method: HTTPRequest.Method, _ path: RouterPath,
        _ answer: @escaping @Sendable (Request, APIRequestContext) async throws -> Response
    ) {
        router.on(path, method: method, use: answer)
        for other in Self.methods where other != method {
            router.on(path, method: other) { _, _ -> Response in
                var error = APIError(.methodNotAllowed, "Only \(method.rawValue) is served at this path")
                error.headers[.allow] = method.rawValue
                throw error
            }
        }
    }
}
