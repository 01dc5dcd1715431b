internal import FoundationEssentials
internal import Hummingbird
internal import Storage
internal import WireFormat

/// Answers `POST` and `DELETE /v1/users/device-token`.
struct DeviceController: Sendable {
    /// Bytes of the JSON: a token has up to 4 KB.
    private static let maxBodyBytes = 16 * 1_024

    let registrar: DeviceRegistrar
    let authenticator: any Authenticator
    /// Counts the registrations of an account, and what it takes back.
    let limiter: RateLimiter<UUID>

    /// Registers the installation the sender's app runs as: at its login, and whenever it has a new token.
    func register(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request)
        let device = try DeviceBody(try await JSONBody(of: request, upTo: Self.maxBodyBytes, context))
        let install = try await registrar.register(device, by: identity, requestID: context.requestID)
        return Answer.json(
            Answer.data(
                .members(
                    ("installation_id", .string(install.id.wireString)), ("kind", .string(install.kind.rawValue)),
                    ("platform", install.platform.map(JSONText.string))),
                context.requestID))
    }

    /// Takes an installation away from the sender: the one whose token or Firebase installation id is in the query or the body,
    /// or else the one the sender is signed in on.
    ///
    /// The answer is the same whatever there was to take away: an app that signs out has nothing to do about it, and nobody
    /// learns whose a token is. What cannot be read is taken for nothing said, so that a clumsy logout still silences the device.
    func unregister(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await admit(request)
        switch try await named(by: request, context) {
        case .target(let target): try await registrar.unregister(target, by: identity, requestID: context.requestID)
        case .own: try await registrar.unregister(nil, by: identity, requestID: context.requestID)
        case .nothing: break
        }
        return Response(status: .noContent)
    }

    /// What a request names that takes an installation away.
    private enum Named {
        case target(PushTarget)
        /// It says nothing, and means the sender's own.
        case own
        /// The named value cannot identify an installation.
        case nothing
    }

    private func named(by request: Request, _ context: APIRequestContext) async throws -> Named {
        let query = request.uri.queryParameters
        var token = query[DeviceBody.token[...]].map(String.init)
        var fid = query[DeviceBody.fid[...]].map(String.init)
        if token == nil, fid == nil {
            let bytes: [UInt8]
            do {
                bytes = Array(try await request.collectBody(upTo: Self.maxBodyBytes, context).readableBytesView)
            } catch let error as APIError where error.code == .payloadTooLarge {
                return .own
            }
            guard let body = try? JSONBody(parsing: bytes) else { return .own }
            (token, fid) = (try? body.text(DeviceBody.token), try? body.text(DeviceBody.fid))
            guard body.has(DeviceBody.token) || body.has(DeviceBody.fid) else { return .own }
        }
        guard let target = try? DeviceBody.target(token: token, fid: fid) else { return .nothing }
        return .target(target)
    }

    private func admit(_ request: Request) async throws -> Identity {
        let identity = try await authenticator.identify(request)
        if let wait = limiter.take(identity.userID) {
            throw APIError.rateLimited("Too many registrations by this account", wait: wait)
        }
        return identity
    }
}
