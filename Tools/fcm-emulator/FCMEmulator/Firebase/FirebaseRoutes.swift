import FoundationEssentials
import HTTPTypes
import Hummingbird
import JSON
import NIOCore

/// Firebase Authentication as a server sees it: Google's keys for ID tokens, and the tokens that apps get, which the control API issues.
struct FirebaseRoutes: Sendable {
    /// Why a request gets no answer.
    private struct NoAnswer: Error {}

    /// How long the old key stays published after a rotation, in seconds, if the request does not say.
    private static let publishedSeconds = 3_600
    /// The longest times that a request may ask for, in seconds.
    private static let maxSeconds = 365 * 24 * 3_600

    let core: EmulatorCore

    func add(to router: Router<EmulatorContext>) {
        router.get("/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com") { _, _ in try await keys() }
        router.post("/control/firebase/tokens") { request, _ in try await issue(request) }
        router.post("/control/firebase/rotate") { request, _ in try await rotate(request) }
    }

    /// Answers as Google's server does, or with the fault of a rule.
    private func keys() async throws -> Response {
        let now = core.clock.now
        core.count { $0.keyFetches += 1 }
        let fault = core.faults.take(.firebaseKeys, now: now)?.rule
        if let delay = fault?.latency.sample(), delay > .zero { try await Task.sleep(for: delay) }
        switch fault?.fate(project: core.projectNames[0], now: now) {
        case .reply(let reply): return response(reply)
        case .hang:
            try await Task.sleep(for: .seconds(core.configuration.limits.delaySeconds))
            throw NoAnswer()
        case .dropConnection, .resetStream: throw NoAnswer()
        case nil:
            let age = "public, max-age=\(core.configuration.keysMaxAgeSeconds), must-revalidate, no-transform"
            return EmulatorAnswer.json(try await core.idTokens.published(now: core.clock.now), headers: [.cacheControl: age])
        }
    }

    private func response(_ reply: Reply) -> Response {
        var headers: HTTPFields = [.contentType: reply.contentType]
        headers[.retryAfter] = reply.retryAfter
        return Response(status: .init(code: reply.status), headers: headers, body: ResponseBody(byteBuffer: reply.body))
    }

    private func issue(_ request: Request) async throws -> Response {
        guard let body = try await ControlRoutes(core: core).json(request) else { return EmulatorAnswer.problem("the body is not JSON") }
        guard let subject = body["subject"]?.string, !subject.isEmpty else { return EmulatorAnswer.problem("subject is missing") }
        var order = IDTokenOrder(subject: subject)
        order.project = body["project"]?.string
        order.email = body["email"]?.string
        order.signedInAt = body["auth_time"]?.integer
        if let seconds = body["expires_in"] {
            guard let seconds = seconds.integer, abs(seconds) <= Self.maxSeconds else {
                return EmulatorAnswer.problem("expires_in must be a whole number up to \(Self.maxSeconds)")
            }
            order.expiresIn = seconds
        }
        if let fault = body["fault"] {
            guard let fault = fault.string.flatMap(IDTokenFault.init) else {
                return EmulatorAnswer.problem("fault must be one of \(IDTokenFault.allCases.map(\.rawValue))")
            }
            order.fault = fault
        }
        let token = try await order.sign(with: core.idTokens, project: core.projectNames[0], now: core.clock.now)
        return EmulatorAnswer.json(["id_token": .string(token)])
    }

    private func rotate(_ request: Request) async throws -> Response {
        guard let body = try await ControlRoutes(core: core).json(request) else { return EmulatorAnswer.problem("the body is not JSON") }
        let seconds = body["published_seconds"].map(\.integer) ?? Self.publishedSeconds
        guard let seconds, (0...Self.maxSeconds).contains(seconds) else {
            return EmulatorAnswer.problem("published_seconds must be a whole number up to \(Self.maxSeconds)")
        }
        let end = core.clock.now.addingTimeInterval(Double(seconds))
        return EmulatorAnswer.json(["kid": .string(try await core.idTokens.rotate(publishingOldUntil: end))])
    }
}
