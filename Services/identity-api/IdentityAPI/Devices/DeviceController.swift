internal import FoundationEssentials
internal import Hummingbird
internal import HummingbirdCore
internal import JSON
internal import Push
internal import Storage
internal import WireFormat

/// Answers `POST` and `DELETE /v1/users/device-token`, and `POST /v1/users/device-token/confirm`.
struct DeviceController: Sendable {
    /// The maximum size of the JSON: a token has up to 4 KB.
    static let maxBodyBytes = 16 * 1_024

    let registrar: DeviceRegistrar
    let authenticator: any Authenticator
    /// Limits the registrations and removals by one account.
    let limiter: RateLimiter<UUID>

    /// Registers the installation of the sender's app. Apps call this after a login, and whenever they have a new token.
    ///
    /// If another user has the installation, it stays with that user: the response is 202, and the app gets a push with a nonce to return.
    func register(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request, context)
        let device = try DeviceBody(try await JSONBody(of: request, upTo: Self.maxBodyBytes, context))
        let origin = PossessionCheck.Origin(requestID: context.requestID, traceparent: context.traceparent)
        switch try await registrar.register(device, by: identity, from: origin) {
        case .registered(let install): return Self.answer(install, context)
        case .pending(let handOver):
            let seconds = Int(max(0, handOver.expiresAt.timeIntervalSinceNow.rounded(.up)))
            return Answer.json(
                Answer.data(
                    .members(
                        ("status", "pending"), ("handover_id", .string(handOver.id.wireString)), ("expires_in", .integer(seconds))),
                    context.requestID), status: .accepted)
        }
    }

    /// Gives the sender the installation whose nonce its app has received and returns. A repetition gets the same response.
    func confirm(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request, context)
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        guard let id = UUID(wireString: try body.requiredWord("handover_id")) else {
            throw APIError(.invalidRequest, "The hand-over's id is not one", field: "handover_id")
        }
        return Self.answer(try await registrar.confirm(id, nonce: try body.requiredWord("nonce"), by: identity), context)
    }

    private static func answer(_ install: PushInstall, _ context: APIRequestContext) -> Response {
        Answer.json(
            Answer.data(
                .members(
                    ("installation_id", .string(install.id.wireString)), ("kind", .string(install.kind.rawValue)),
                    ("platform", install.platform.map(JSONValue.string))),
                context.requestID))
    }

    /// Unregisters an installation of the sender: the one whose token or Firebase installation id is in the query or the body, or else
    /// the one that the sender is signed in on.
    ///
    /// The answer is the same whether or not an installation was removed: an app that signs out cannot act on it, and the answer must not
    /// disclose the owner of a token. An unreadable body that names no installation counts as an empty body, so that a faulty logout still
    /// silences the device.
    func unregister(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request, context)
        switch try await named(by: request, context) {
        case .target(let target): try await registrar.unregister(target, by: identity)
        case .own: try await registrar.unregister(nil, by: identity)
        case .nothing: break
        }
        return Response(status: .noContent)
    }

    /// The installation that a request to unregister names.
    private enum Named {
        case target(PushTarget)
        /// The request names no installation, and means the sender's own.
        case own
        /// The named value cannot identify an installation.
        case nothing
    }

    private func named(by request: Request, _ context: APIRequestContext) async throws -> Named {
        var token = request.query(DeviceBody.token)
        var fid = request.query(DeviceBody.fid)
        if token == nil, fid == nil {
            let bytes: [UInt8]
            do {
                bytes = Array(try await request.collectBody(upTo: Self.maxBodyBytes, context).readableBytesView)
            } catch let error as APIError where error.code == .payloadTooLarge {
                return .own
            }
            do throws(APIError) {
                let body = try JSONBody(parsing: bytes)
                (token, fid) = (try? body.text(DeviceBody.token), try? body.text(DeviceBody.fid))
                guard body.has(DeviceBody.token) || body.has(DeviceBody.fid) else { return .own }
            } catch {
                guard let form = try Self.form(bytes, or: error) else { return .own }
                (token, fid) = form
            }
        }
        guard let target = try? DeviceBody.target(token: token, fid: fid) else { return .nothing }
        return .target(target)
    }

    /// Reads a body that is not JSON as a browser's form (`device_token=…`); nil for a form that names no installation.
    ///
    /// - Throws: The refusal of a body that names an installation in some other way: it may not mean the sender's own.
    private static func form(_ bytes: [UInt8], or refusal: APIError) throws(APIError) -> (token: String?, fid: String?)? {
        let text = String(decoding: bytes, as: UTF8.self)
        let values = URI("/?\(text)").queryParameters
        let (token, fid) = (values[DeviceBody.token[...]], values[DeviceBody.fid[...]])
        if token != nil || fid != nil { return (token.map { String($0) }, fid.map { String($0) }) }
        if text.contains(DeviceBody.token) || text.contains("\"\(DeviceBody.fid)\"") { throw refusal }
        return nil
    }

    private func admit(_ request: Request, _ context: APIRequestContext) async throws -> Identity {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many registrations by this account")
        return identity
    }
}
