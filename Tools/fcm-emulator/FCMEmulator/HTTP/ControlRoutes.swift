import HTTPTypes
import Hummingbird
import JSON
import NIOCore

/// `/control/…`: the API by which tests, demos and developers control the emulator.
struct ControlRoutes: Sendable {
    let core: EmulatorCore

    func add(to router: Router<EmulatorContext>) {
        addTokens(to: router)
        addMessages(to: router)
        addMails(to: router)
        addFaults(to: router)
        addEnvironment(to: router)
    }

    private func addMessages(to router: Router<EmulatorContext>) {
        router.get("/control/messages") { request, _ in await messages(request) }
        router.delete("/control/messages", doing: core.clearMessages)
        router.get("/control/inbox") { request, _ in
            let cards = core.inbox.cards(of: Self.query("token", request))
            return EmulatorAnswer.json(["cards": .array(cards.map { $0.json(senderID: core.configuration.projectNumber) })])
        }
        router.get("/control/requests") { request, _ in requests(request) }
        router.get("/control/statistics") { _, _ in EmulatorAnswer.json(statistics) }
    }

    private func addFaults(to router: Router<EmulatorContext>) {
        router.post("/control/faults") { request, _ in try await addFault(request) }
        router.get("/control/faults") { _, _ in
            EmulatorAnswer.json(["faults": .array(core.faults.all(now: core.clock.now).map { $0.rule.json(id: $0.id) })])
        }
        router.delete("/control/faults", doing: core.faults.removeAll)
        router.delete("/control/faults/{id}") { _, context in
            let found = Int(context.parameters.get("id") ?? "").map(core.faults.remove) ?? false
            return found ? EmulatorAnswer.noContent : EmulatorAnswer.problem("no such fault", status: 404)
        }
    }

    static func query(_ name: String, _ request: Request) -> String? {
        request.uri.queryParameters[Substring(name)].map(String.init).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The body as JSON; an empty one is an empty object.
    func json(_ request: Request) async throws -> JSONValue? {
        let body = try await request.body.collect(upTo: core.configuration.limits.bodyBytes)
        return body.readableBytes == 0 ? [:] : try? JSONValue(parsing: Array(body.readableBytesView))
    }

    private func messages(_ request: Request) async -> Response {
        let limits = core.configuration.limits
        guard let wait = Self.number("wait", request, default: 0), (0...limits.waitSeconds).contains(wait) else {
            return EmulatorAnswer.problem("wait must be 0 to \(limits.waitSeconds) seconds")
        }
        if Self.query("after", request) != nil { return await page(request, within: .seconds(wait)) }
        guard let count = Self.number("count", request, default: 1), (0...limits.messages).contains(count) else {
            return EmulatorAnswer.problem("count must be 0 to \(limits.messages)")
        }
        let found = await core.inbox.messages(
            to: Self.query("token", request), atLeast: count, within: .seconds(wait))
        return EmulatorAnswer.json(["messages": .array(found.map { $0.json(senderID: core.configuration.projectNumber) })])
    }

    /// Returns the messages to all phones from a number on, for clients that follow all messages.
    private func page(_ request: Request, within patience: Duration) async -> Response {
        guard let number = Self.number("after", request, default: 0), number >= 0 else {
            return EmulatorAnswer.problem("after must be a number that an answer gave as next, or 0")
        }
        let (messages, next) = await core.inbox.page(from: number, within: patience)
        return EmulatorAnswer.json([
            "messages": .array(messages.map { $0.json(senderID: core.configuration.projectNumber) }), "next": .integer(next),
        ])
    }

    private func requests(_ request: Request) -> Response {
        let limits = core.configuration.limits
        guard let count = Self.number("count", request, default: 100), (0...limits.requests).contains(count) else {
            return EmulatorAnswer.problem("count must be 0 to \(limits.requests)")
        }
        let token = Self.query("token", request)
        let status = Self.query("status", request).flatMap { Int($0) }
        let found = core.requests.newest(count) { record in
            (token == nil || record.registration == token) && (status == nil || record.status ?? 0 == status)
        }
        return EmulatorAnswer.json(["requests": .array(found.map(\.json))])
    }

    private var statistics: JSONValue {
        let statistics = core.statistics
        var byStatus: JSONValue = [:]
        for (status, count) in statistics.byStatus.sorted(by: { $0.key < $1.key }) { byStatus["\(status)"] = .integer(count) }
        var byCount: JSONValue = [:]
        for (messages, registrations) in core.registrations.acceptedCounts.sorted(by: { $0.key < $1.key }) {
            byCount["\(messages)"] = .integer(registrations)
        }
        return [
            "sends": .integer(statistics.sends), "accepted": .integer(statistics.accepted),
            "access_tokens_issued": .integer(statistics.accessTokensIssued), "by_status": byStatus,
            "connections": .integer(statistics.connections), "goaways": .integer(statistics.goAways),
            "mail_connections": .integer(statistics.mailConnections),
            "key_fetches": .integer(statistics.keyFetches),
            "registrations_by_messages": byCount,
        ]
    }

    static func number(_ name: String, _ request: Request, default fallback: Int) -> Int? {
        query(name, request).map { Int($0) } ?? fallback
    }

    private func addFault(_ request: Request) async throws -> Response {
        guard let body = try await json(request) else { return EmulatorAnswer.problem("the body is not JSON") }
        do throws(FaultRuleError) {
            let rule = try FaultRule(json: body, limits: core.configuration.limits)
            guard let id = core.faults.add(rule, now: core.clock.now) else {
                return EmulatorAnswer.problem("too many faults", status: 429)
            }
            return EmulatorAnswer.json(rule.json(id: id), status: 201)
        } catch {
            return EmulatorAnswer.problem(error.message)
        }
    }
}
