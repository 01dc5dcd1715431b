import HTTPTypes
import Hummingbird
import NIOCore

/// `POST /v1/projects/{project}/messages:send`.
struct SendRoute: Sendable {
    let core: EmulatorCore

    func respond(_ request: Request, _ context: EmulatorContext) async throws -> Response {
        core.connections.add(context.connection)
        core.count { $0.sends += 1 }
        let limit = core.configuration.limits.bodyBytes
        guard let body = try? await request.body.collect(upTo: limit) else {
            return Answer.refusal(.payloadTooLarge(limit: limit))
        }
        let bytes = Array(body.readableBytesView)
        let project = context.parameters.get("project") ?? ""
        let fault = takeFault(bytes)
        let injector = FaultInjector(core: core, context: context, project: project)
        if let fault {
            try await injector.delay(fault)
            if !fault.isDelivered, let response = try await injector.answer(fault) { return response }
        }
        do throws(FCMRefusal) {
            let name = try await send(bytes, project: project, authorization: request.headers[.authorization])
            if let fault, fault.isDelivered, let response = try? await injector.answer(fault) { return response }
            return Answer.json(["name": .string(name)])
        } catch {
            return Answer.refusal(error)
        }
    }

    /// The fault that applies; the body is looked into only when there is one that might.
    private func takeFault(_ bytes: [UInt8]) -> FaultRule? {
        guard core.faults.all.contains(where: { $0.rule.endpoint == .send }) else { return nil }
        let message = JSONValue(parsing: bytes)?["message"]
        return core.faults.take(.send, registration: message.flatMap(MessageTarget.init)?.registration)
    }

    /// Checks everything in FCM's order, and delivers.
    private func send(_ bytes: [UInt8], project: String, authorization: String?) async throws(FCMRefusal) -> String {
        try authorize(authorization, project: project)
        let request = try MessageValidator(sizeLimit: core.configuration.sizeLimit).validate(bytes)
        let now = core.configuration.now()
        var platform: DevicePlatform?
        if let registration = request.target.registration {
            let standing = core.registrations.standing(
                of: registration, project: project, consuming: !request.validateOnly)
            switch standing {
            case .active(let found): platform = found
            case .otherProject: throw .senderMismatch
            case .gone: throw .unregistered
            }
        }
        let name = MessageName.make(project: project, target: request.target, platform: platform, now: now)
        if request.validateOnly { return name }
        core.count { $0.accepted += 1 }
        await core.inbox.append(
            ReceivedMessage(
                name: name, receivedAt: now, message: request.message, registration: request.target.registration,
                platform: platform))
        return name
    }

    private func authorize(_ header: String?, project: String) throws(FCMRefusal) {
        guard let header else { throw .credentialsMissing }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .credentialsInvalid }
        switch core.accessTokens.standing(of: String(parts[1]), now: core.configuration.now()) {
        case .valid: break
        case .expired: throw .credentialsExpired
        case .unknown: throw .credentialsInvalid
        }
        guard project == core.verifier?.account.projectID else { throw .permissionDenied(project: project) }
    }
}
