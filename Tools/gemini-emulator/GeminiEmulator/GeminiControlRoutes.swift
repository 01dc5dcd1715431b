import FCMEmulator
import Hummingbird
import JSON
import NIOCore

/// `/control/…`: the API by which tests, demos and developers control the emulator; and `/healthz`.
struct GeminiControlRoutes: Sendable {
    let core: GeminiCore

    func add(to router: Router<EmulatorContext>) {
        router.get("/healthz") { _, _ in EmulatorAnswer.json(["status": "ok"]) }
        router.get("/control/calls") { _, _ in
            EmulatorAnswer.json(["calls_at_once_max": .integer(core.maxCallsAtOnce), "calls": .array(core.calls.map(Self.json))])
        }
        router.delete("/control/calls", doing: core.clearCalls)
        router.post("/control/behaviours") { request, _ in try await add(request) }
        router.delete("/control/behaviours", doing: core.clearBehaviours)
    }

    private func add(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 65_536)
        guard let json = try? JSONValue(parsing: Array(body.readableBytesView)) else {
            return EmulatorAnswer.problem("the body is not JSON")
        }
        guard let effect = Self.effect(json) else {
            return EmulatorAnswer.problem(
                "effect must be picture, snake_case, thought, words, finish, blocked, nothing, rate_limited, daily_quota, failure, "
                    + "html, hang, cut, cut_midway, huge or garbage")
        }
        let count = json["count"]?.integer ?? 1
        let latency = json["latency_ms"]?.integer ?? 0
        guard count >= 0, latency >= 0 else { return EmulatorAnswer.problem("count and latency_ms must not be negative") }
        let behaviour = GeminiBehaviour(
            effect, count: count == 0 ? nil : count, latency: .milliseconds(latency),
            promptContains: json["prompt_contains"]?.string)
        guard let id = core.add(behaviour) else { return EmulatorAnswer.problem("too many behaviours", status: 429) }
        return EmulatorAnswer.json(["id": .integer(id)], status: 201)
    }

    private static func effect(_ json: JSONValue) -> GeminiBehaviour.Effect? {
        let status = json["status"]?.integer ?? 503
        guard (400...599).contains(status) else { return nil }
        switch json["effect"]?.string ?? "picture" {
        case "picture": return .picture
        case "snake_case": return .snakeCase
        case "thought": return .thought
        case "words": return .words
        case "finish": return .finish(json["reason"]?.string ?? "NO_IMAGE")
        case "blocked": return .blocked(json["reason"]?.string ?? "SAFETY")
        case "nothing": return .nothing
        case "rate_limited": return .rateLimited(retrySeconds: json["retry_seconds"]?.integer.map(Double.init))
        case "daily_quota": return .dailyQuota
        case "failure": return .failure(status: status, retryAfter: json["retry_after"]?.string)
        case "html": return .html(status: status)
        case "hang": return .hang
        case "cut": return .cut
        case "cut_midway": return .cutMidway
        case "huge": return .huge(byteCount: min(max(0, json["bytes"]?.integer ?? 40_000_000), 100_000_000))
        case "garbage": return .garbage
        default: return nil
        }
    }

    private static func json(_ call: GeminiCall) -> JSONValue {
        var object: JSONValue = [:]
        object["number"] = .integer(call.number)
        object["model"] = .string(call.model)
        object["prompt"] = .string(call.prompt)
        object["fingerprint"] = .string(call.fingerprint)
        object["picture_bytes"] = .integer(call.pictureByteCount)
        object["aspect_ratio"] = call.aspectRatio.map(JSONValue.string)
        object["image_size"] = call.imageSize.map(JSONValue.string)
        object["paid"] = .bool(call.isPaid)
        return object
    }
}
