import FoundationEssentials
import Hummingbird
import JSON

/// `/control/tokens`: creates registrations, shows them, and changes their state.
extension ControlRoutes {
    /// Maximum number of registrations made by one request.
    static let maxMinted = 100_000
    /// Maximum number of registrations that one request lists.
    private static let maxListed = 1_000

    func addTokens(to router: Router<EmulatorContext>) {
        router.post("/control/tokens") { request, _ in try await mint(request) }
        router.get("/control/tokens") { request, _ in list(request) }
        router.get("/control/tokens/{token}") { _, context in show(Self.token(context)) }
        router.delete("/control/tokens/{token}") { _, context in done(core.registrations.delete(Self.token(context))) }
        router.post("/control/tokens/{token}/rotate") { _, context in
            guard let token = core.registrations.rotate(Self.token(context)) else { return done(false) }
            return EmulatorAnswer.json(["token": .string(token)])
        }
        router.post("/control/tokens/{token}/revive") { _, context in done(core.registrations.revive(Self.token(context))) }
        router.post("/control/tokens/{token}/expire") { _, context in
            done(core.registrations.expire(Self.token(context), at: core.clock.now))
        }
        router.post("/control/tokens/{token}/offline") { _, context in
            done(core.registrations.disconnect(Self.token(context)), else: "no such Android phone")
        }
        router.post("/control/tokens/{token}/online") { _, context in reconnect(Self.token(context)) }
    }

    private static func token(_ context: EmulatorContext) -> String {
        let token = context.parameters.get("token") ?? ""
        return PercentCoding.decode(token) ?? token
    }

    private func done(_ isDone: Bool, else problem: String = "no such token") -> Response {
        isDone ? EmulatorAnswer.noContent : EmulatorAnswer.problem(problem, status: 404)
    }

    private func mint(_ request: Request) async throws -> Response {
        guard let body = try await json(request) else { return EmulatorAnswer.problem("the body is not JSON") }
        guard let platform = DevicePlatform(rawValue: body["platform"]?.string ?? "ios") else {
            return EmulatorAnswer.problem("platform must be ios or android")
        }
        let kind = body["kind"]?.string ?? "token"
        guard ["token", "fid"].contains(kind) else { return EmulatorAnswer.problem("kind must be token or fid") }
        let fid = body["installation"]?.string
        if let fid, !RegistrationShape.isFID(fid.utf8) { return EmulatorAnswer.problem("installation must be an installation id") }
        let project = body["sender_id"]?.string ?? body["project"]?.string
        let expiry = body["expires_in"]?.integer.map { core.clock.now.addingTimeInterval(Double($0)) }
        func make() -> JSONValue {
            let registrations = core.registrations
            return .string(
                kind == "fid"
                    ? registrations.mintFID(platform: platform, project: project, expiresAt: expiry, fid: fid)
                    : registrations.mintToken(platform: platform, project: project, expiresAt: expiry, fid: fid))
        }
        guard let count = body["count"] else { return EmulatorAnswer.json([kind == "fid" ? "fid" : "token": make()]) }
        guard let count = count.integer, (1...Self.maxMinted).contains(count) else {
            return EmulatorAnswer.problem("count must be 1 to \(Self.maxMinted)")
        }
        return EmulatorAnswer.json(["tokens": .array((0..<count).map { _ in make() })])
    }

    private func list(_ request: Request) -> Response {
        guard let count = Self.number("count", request, default: 50), (0...Self.maxListed).contains(count) else {
            return EmulatorAnswer.problem("count must be 0 to \(Self.maxListed)")
        }
        let newest = core.inbox.newest
        let list = PhoneList(core.registrations.all, matching: Self.query("search", request), newest: newest, count: count)
        let phones = list.phones.map { token, registration in
            var json = describe(token, registration)
            let last = newest[token].flatMap(core.inbox.message)
            json["last"] = last.map { ["received_at": .string(RFC3339.string($0.receivedAt)), "title": .string(Card($0).title)] }
            return json
        }
        return EmulatorAnswer.json(["tokens": .array(phones), "total": .integer(list.total)])
    }

    private func show(_ token: String) -> Response {
        guard let registration = core.registrations.find(token) else { return done(false) }
        return EmulatorAnswer.json(describe(token, registration))
    }

    private func describe(_ token: String, _ registration: Registrations.Registration) -> JSONValue {
        var json: JSONValue = ["token": .string(token), "name": .string(registration.name)]
        json["platform"] = .string(registration.platform.rawValue)
        json["sender_id"] = .string(registration.project ?? core.configuration.projectNumber)
        json["alive"] = .bool(Registrations.isAlive(registration, now: core.clock.now))
        json["accepted"] = .integer(core.registrations.accepted(by: token))
        json["online"] = .bool(registration.store == nil)
        if let store = registration.store {
            json["waiting"] = .integer(store.messages.count)
            json["overflowed"] = .bool(store.hasOverflowed)
        }
        return json
    }

    private func reconnect(_ token: String) -> Response {
        guard let (numbers, hasLost) = core.registrations.reconnect(token, now: core.clock.now) else {
            return EmulatorAnswer.problem("no such phone is offline", status: 404)
        }
        core.inbox.arrive(numbers)
        return EmulatorAnswer.json(["delivered": .integer(numbers.count), "deleted_messages": .bool(hasLost)])
    }
}
