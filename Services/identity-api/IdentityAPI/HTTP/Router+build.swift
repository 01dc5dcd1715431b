internal import HTTPTypes
internal import Hummingbird
internal import ServiceDefaults

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
    let lists: TopicListController
    let apps: AppTopicController
    let photos: PhotoController
    let messages: MessageController
}

/// The controllers of users' profiles, exports, erasures, presence, devices, receipts, sign-ins and their confirmations, lists of people
/// and reports.
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
    let confirmations: SignInConfirmationController
    let blocks: PeopleListController
    let contacts: PeopleListController
    let reports: ReportController
}

/// The controllers of the API, whose requests ``APIOperation/all`` lists.
struct APIRoutes: Sendable {
    let gate: SenderGate
    let deviceKeys: DeviceKeyGate
    let uploads: UploadController
    let consent: ConsentController
    let challenges: ChallengeController
    let sessions: SessionController
    let tokens: TokenController
    let verification: VerificationController
    let images: ImageRoutes
    let topics: TopicRoutes
    let people: PeopleRoutes
    let notifications: AppNotificationController
    let limit: RateLimitMiddleware
    let schema: SchemaGate
    /// The origins of web apps that may read answers.
    let origins: AllowedOrigins

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete]

    /// Builds the router of all operations.
    func buildRouter() -> Router<APIRequestContext> {
        let router = Router(context: APIRequestContext.self)
        router.add(middleware: TraceMiddleware())
        router.add(middleware: CrossOriginMiddleware(origins: origins))
        router.add(middleware: EnvelopeMiddleware())
        router.add(middleware: limit)
        router.add(middleware: PreflightMiddleware(origins: origins))
        router.add(middleware: ContentCodingMiddleware())
        var waiting = Dictionary(grouping: APIOperation.all, by: \.pattern)
        for pattern in APIOperation.all.map(\.pattern) {
            guard let operations = waiting.removeValue(forKey: pattern) else { continue }
            let answers = operations.map { ($0.method, waitingForSchema($0)) }
            serve(RouterPath(pattern), Dictionary(uniqueKeysWithValues: answers), on: router)
        }
        return router
    }

    /// Returns the handler of an operation, which refuses requests while the database has not the schema of this version. Only what
    /// describes the API is answered without it.
    private func waitingForSchema(_ operation: APIOperation) -> APIOperation.Handler {
        let answer = operation.handler(self)
        guard operation.area != .service else { return answer }
        return { [schema] request, context in
            do { try await schema.check() } catch {
                throw APIError.unavailable("The service has not started yet", underlying: error)
            }
            return try await answer(request, context)
        }
    }

    /// Serves the methods of a path, `HEAD` along with `GET`, and refuses others with a list of the served ones in `Allow`.
    private func serve(_ path: RouterPath, _ served: [HTTPRequest.Method: APIOperation.Handler], on router: Router<APIRequestContext>) {
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
        // Also for pages of other origins: without the headers of CORS the browser refuses the request itself.
        router.on(path, method: .options) { _, _ in Response(status: .noContent, headers: [.allow: allowed]) }
    }
}
