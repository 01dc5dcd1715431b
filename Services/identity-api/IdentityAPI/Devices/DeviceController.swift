internal import FoundationEssentials
internal import JSON
internal import Push
internal import WireFormat

/// Answers `POST` and `DELETE /v1/users/device-token`, and `POST /v1/users/device-token/confirm`.
struct DeviceController: Sendable {
    let registrar: DeviceRegistrar

    /// Registers the installation of the sender's app. Apps call this after a login, and whenever they have a new token.
    ///
    /// If another user has the installation, it stays with that user: the response is 202, and the app gets a push with a nonce to return.
    func register(_ call: APICall<Identity, Void, DeviceBody>) async throws -> APIEither<PushInstall, InstallHandOver> {
        let origin = PossessionCheck.Origin(requestID: call.context.requestID, traceparent: call.context.traceparent)
        switch try await registrar.register(call.body, by: call.sender, from: origin) {
        case .registered(let install): return .first(install)
        case .pending(let handOver): return .second(handOver)
        }
    }

    /// Gives the sender the installation whose nonce its app has received and returns. A repetition gets the same response.
    func confirm(_ call: APICall<Identity, Void, ConfirmedDeviceBody>) async throws -> PushInstall {
        try await registrar.confirm(call.body.handOverID, nonce: call.body.nonce, by: call.sender)
    }

    /// Unregisters an installation of the sender: the one whose token or Firebase installation id is in the query or the body, or else
    /// the one that the sender is signed in on.
    ///
    /// The answer is the same whether or not an installation was removed: an app that signs out cannot act on it, and the answer must not
    /// disclose the owner of a token.
    func unregister(_ call: APICall<Identity, Void, NamedDevice>) async throws {
        switch call.body {
        case .target(let target): try await registrar.unregister(target, by: call.sender)
        case .own: try await registrar.unregister(nil, by: call.sender)
        case .nothing: break
        }
    }
}

extension PushInstall: APIObject {
    static let members: [APIMember<PushInstall>] = [
        .required("installation_id", \.id), .required("kind", \.kind),
        .optional("platform", \.platform, .one(of: DeviceBody.platforms.sorted())),
    ]
}

extension PushTarget.Kind: APIWord {}

extension InstallHandOver: APIObject {
    static let members: [APIMember<InstallHandOver>] = [
        .constant("status", "pending"), .required("handover_id", \.id), .required("expires_in", \.secondsLeft),
    ]

    private var secondsLeft: Int { Int(max(0, expiresAt.timeIntervalSinceNow.rounded(.up))) }
}
