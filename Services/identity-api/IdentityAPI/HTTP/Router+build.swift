internal import HTTPTypes
internal import Hummingbird
internal import JSON

/// The controllers of image jobs.
struct ImageRoutes: Sendable {
    let submit: ImageSubmitController
    let jobs: ImageJobController
    let events: ImageJobEvents
    let media: MediaController
}

/// The controllers of topics.
struct TopicRoutes: Sendable {
    let members: TopicController
    let apps: AppTopicController
    let photos: PhotoController
    let messages: MessageController
}

/// The controllers of users' profiles, exports, erasures, presence, devices, receipts, sign-ins, blocks and reports.
struct PeopleRoutes: Sendable {
    let profile: ProfileController
    let export: ExportController
    let erasures: ErasureController
    let email: EmailController
    let recovery: RecoveryController
    let presence: PresenceController
    let devices: DeviceController
    let receipts: ReceiptController
    let signIns: SignInController
    let blocks: BlockController
    let reports: ReportController
}

/// The routes of the API and their controllers.
struct APIRoutes: Sendable {
    let uploads: UploadController
    let consent: ConsentController
    let sessions: SessionController
    let tokens: TokenController
    let verification: VerificationController
    let images: ImageRoutes
    let topics: TopicRoutes
    /// The public keys of receipts, a JSON Web Key Set.
    let receiptKeys: JSONValue
    let people: PeopleRoutes
    let notifications: AppNotificationController
    let limit: RateLimitMiddleware
    /// The origins of web apps that may read answers.
    let origins: AllowedOrigins

    private typealias Answering = @Sendable (Request, APIRequestContext) async throws -> Response

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete]

    func buildRouter() -> Router<APIRequestContext> {
        let router = Router(context: APIRequestContext.self)
        router.add(middleware: TraceMiddleware())
        router.add(middleware: CrossOriginMiddleware(origins: origins))
        router.add(middleware: EnvelopeMiddleware())
        router.add(middleware: limit)
        router.add(middleware: PreflightMiddleware(origins: origins))
        serve("/", [.get: { _, _ in APIPage.answer() }], on: router)
        serve("/api/v1/ekyc/upload-photos", [.post: { try await uploads.upload(.signUp, $0, $1) }], on: router)
        serve("/v1/consent", [.get: consent.get], on: router)
        serve("/api/v1/ekyc/login", [.post: { try await uploads.upload(.signIn, $0, $1) }], on: router)
        serve("/api/v1/ekyc/sessions/:id", [.get: sessions.status], on: router)
        serve("/api/v1/ekyc/sessions/:id/token", [.post: tokens.redeem], on: router)
        serve("/api/v1/auth/refresh", [.post: tokens.refresh], on: router)
        serve("/api/v1/auth/logout", [.post: tokens.logout], on: router)
        serve("/v1/auth/register", [.post: verification.register], on: router)
        serve("/v1/auth/resend", [.post: verification.resend], on: router)
        serve("/v1/auth/verify", [.post: verification.verify], on: router)
        serve("/v1/images/process", [.post: images.submit.submit], on: router)
        serve("/v1/images/jobs", [.get: images.jobs.list], on: router)
        serve("/v1/images/jobs/:id", [.get: images.jobs.status, .delete: images.jobs.delete], on: router)
        serve("/v1/images/jobs/:id/events", [.get: images.events.stream], on: router)
        serve("/v1/templates", [.get: images.jobs.templates], on: router)
        serve("/v1/topics/:topic", [.put: topics.apps.create, .delete: topics.apps.delete], on: router)
        serve("/v1/topics/:topic/members", [.get: topics.members.list], on: router)
        serve("/v1/topics/:topic/members/:user", [.put: topics.members.put, .delete: topics.members.delete], on: router)
        serve("/v1/topics/:topic/photos", [.post: topics.photos.add], on: router)
        serve("/v1/topics/:topic/messages", [.post: topics.messages.post], on: router)
        serve("/v1/topics/:topic/read", [.post: topics.messages.read], on: router)
        serve("/v1/users/device-token", [.post: people.devices.register, .delete: people.devices.unregister], on: router)
        serve("/v1/users/device-token/confirm", [.post: people.devices.confirm], on: router)
        serve("/v1/notifications", [.post: notifications.post], on: router)
        serve("/v1/notifications/:id", [.get: notifications.get, .delete: notifications.cancel], on: router)
        serve("/v1/notifications/receipts", [.post: people.receipts.record], on: router)
        serve(
            "/v1/users/me", [.get: people.profile.get, .put: people.profile.put, .delete: people.erasures.eraseAccount], on: router)
        serve("/v1/users/me/face", [.delete: people.erasures.eraseFace], on: router)
        serve("/v1/users/me/erasure/:id", [.get: people.erasures.status], on: router)
        serve("/.well-known/jwks.json", [.get: { _, _ in Answer.json(receiptKeys) }], on: router)
        serve("/v1/users/:user", [.delete: people.erasures.eraseUser], on: router)
        serve("/v1/users/me/export", [.get: people.export.get], on: router)
        serve("/v1/users/me/email", [.put: people.email.put], on: router)
        serve("/v1/users/me/recovery", [.get: people.recovery.get, .delete: people.recovery.cancel], on: router)
        serve("/v1/users/me/sessions", [.get: people.signIns.list, .delete: people.signIns.endAll], on: router)
        serve("/v1/users/me/sessions/:id", [.delete: people.signIns.end], on: router)
        serve("/v1/users/me/presence", [.put: people.presence.put], on: router)
        serve("/v1/users/me/blocks", [.get: people.blocks.list, .put: people.blocks.replace], on: router)
        serve("/v1/users/me/blocks/:user", [.put: people.blocks.put, .delete: people.blocks.delete], on: router)
        serve("/v1/users/:user/report", [.post: people.reports.user], on: router)
        serve("/v1/topics/:topic/report", [.post: people.reports.topic], on: router)
        serve("/v1/topics/:topic/messages/:message/report", [.post: people.reports.message], on: router)
        serve("/media/**", [.get: images.media.file], on: router)
        return router
    }

    /// Serves the methods of a path, `HEAD` along with `GET`, and refuses others with a list of the served ones in `Allow`.
    private func serve(_ path: RouterPath, _ served: [HTTPRequest.Method: Answering], on router: Router<APIRequestContext>) {
        var answers = served
        if let get = served[.get] {
            answers[.head] = { request, context in
                var response = try await get(request, context)
                let length = response.headers[.contentLength]
                // The body is replaced before it is written, so that no picture is read for it.
                response.body = ResponseBody()
                response.headers[.contentLength] = length
                return response
            }
        }
        let allowed = Self.methods.filter { answers[$0] != nil }.map(\.rawValue).joined(separator: ", ")
        for method in Self.methods {
            let answer =
                answers[method] ?? { _, _ in
                    var error = APIError(.methodNotAllowed, "Only \(allowed) is served at this path")
                    error.headers[.allow] = allowed
                    throw error
                }
            router.on(path, method: method, use: answer)
        }
    }
}
