import HTTPTypes
import Hummingbird
import NIOCore

/// `/control/…`: what tests, demos and people do to the emulator.
struct ControlRoutes: Sendable {
    let core: EmulatorCore

    func add(to router: Router<EmulatorContext>) {
        router.post("/control/tokens") { request, _ in try await mint(request) }
        router.delete("/control/tokens/{token}") { _, context in delete(context.parameters.get("token") ?? "") }
        router.get("/control/messages") { request, _ in await messages(request) }
        router.delete("/control/messages") { _, _ in
            await core.inbox.clear()
            return Answer.noContent
        }
        router.get("/control/inbox") { request, _ in
            let cards = await core.inbox.cards(of: Self.query("token", request))
            return Answer.json(["cards": .array(cards.map(\.json))])
        }
        router.post("/control/faults") { request, _ in try await addFault(request) }
        router.get("/control/faults") { _, _ in
            Answer.json(["faults": .array(core.faults.all.map { $0.rule.json(id: $0.id) })])
        }
        router.delete("/control/faults") { _, _ in
            core.faults.removeAll()
            return Answer.noContent
        }
        router.delete("/control/faults/{id}") { _, context in
            let found = Int(context.parameters.get("id") ?? "").map(core.faults.remove) ?? false
            return found ? Answer.noContent : Answer.problem("no such fault", status: 404)
        }
        router.delete("/control/access-tokens") { _, _ in
            core.accessTokens.revokeAll()
            return Answer.noContent
        }
        router.get("/control/statistics") { _, _ in
            let statistics = core.statistics
            return Answer.json([
                "sends": JSONValue(statistics.sends), "accepted": JSONValue(statistics.accepted),
                "access_tokens_issued": JSONValue(statistics.accessTokensIssued),
            ])
        }
    }

    static func query(_ name: String, _ request: Request) -> String? {
        request.uri.queryParameters[Substring(name)].map(String.init).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The body as JSON; an empty one is an empty object.
    private func json(_ request: Request) async throws -> JSONValue? {
        let body = try await request.body.collect(upTo: core.configuration.limits.bodyBytes)
        return body.readableBytes == 0 ? [:] : JSONValue(parsing: Array(body.readableBytesView))
    }

    private func mint(_ request: Request) async throws -> Response {
        guard let body = try await json(request) else { return Answer.problem("the body is not JSON") }
        guard let platform = DevicePlatform(rawValue: body["platform"]?.string ?? "ios") else {
            return Answer.problem("platform must be ios or android")
        }
        let project = body["project"]?.string
        switch body["kind"]?.string ?? "token" {
        case "token":
            return Answer.json(["token": .string(core.registrations.mintToken(platform: platform, project: project))])
        case "fid": return Answer.json(["fid": .string(core.registrations.mintFID(platform: platform, project: project))])
        default: return Answer.problem("kind must be token or fid")
        }
    }

    private func delete(_ token: String) -> Response {
        let value = PercentCoding.decode(token) ?? token
        return core.registrations.delete(value) ? Answer.noContent : Answer.problem("no such token", status: 404)
    }

    private func messages(_ request: Request) async -> Response {
        let limits = core.configuration.limits
        guard let wait = Self.number("wait", request, default: 0), (0...limits.waitSeconds).contains(wait) else {
            return Answer.problem("wait must be 0 to \(limits.waitSeconds) seconds")
        }
        guard let count = Self.number("count", request, default: 1), (0...limits.messages).contains(count) else {
            return Answer.problem("count must be 0 to \(limits.messages)")
        }
        let found = await core.inbox.messages(
            to: Self.query("token", request), atLeast: count, within: .seconds(wait))
        return Answer.json(["messages": .array(found.map(\.json))])
    }

    private static func number(_ name: String, _ request: Request, default fallback: Int) -> Int? {
        query(name, request).map { Int($0) } ?? fallback
    }

    private func addFault(_ request: Request) async throws -> Response {
        guard let body = try await json(request) else { return Answer.problem("the body is not JSON") }
        do throws(FaultRuleError) {
            let rule = try FaultRule(json: body, limits: core.configuration.limits)
            guard let id = core.faults.add(rule) else { return Answer.problem("too many faults", status: 429) }
            return Answer.json(rule.json(id: id), status: 201)
        } catch {
            return Answer.problem(error.message)
        }
    }
}
