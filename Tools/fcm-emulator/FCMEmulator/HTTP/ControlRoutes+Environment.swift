import Hummingbird
import JSON

/// The emulator's clock, its quota and its access tokens.
extension ControlRoutes {
    func addEnvironment(to router: Router<EmulatorContext>) {
        router.get("/control/clock") { _, _ in clock }
        router.post("/control/clock") { request, _ in
            guard let seconds = try await json(request)?["advance_seconds"]?.integer, abs(seconds) <= Self.maxAdvanceSeconds else {
                return EmulatorAnswer.problem("advance_seconds must be a whole number up to \(Self.maxAdvanceSeconds)")
            }
            core.clock.advance(seconds: Double(seconds))
            return clock
        }
        router.delete("/control/clock") { _, _ in
            core.clock.reset()
            return clock
        }
        router.get("/control/quota") { _, _ in quota }
        router.post("/control/quota") { request, _ in
            guard let limit = try await json(request)?["per_minute"]?.integer, limit >= 0 else {
                return EmulatorAnswer.problem("per_minute must be a whole number, not negative")
            }
            core.quota.set(perMinute: limit)
            return quota
        }
        router.delete("/control/quota", doing: { core.quota.set(perMinute: nil) })
        router.delete("/control/access-tokens", doing: core.accessTokens.revokeAll)
    }

    /// Maximum step of the clock in one request, in seconds: ten years.
    private static let maxAdvanceSeconds = 315_360_000

    private var clock: Response {
        EmulatorAnswer.json(["now": .string(RFC3339.string(core.clock.now)), "moved_seconds": .integer(Int(core.clock.offsetSeconds))])
    }

    private var quota: Response {
        let (limit, left) = core.quota.standing
        return EmulatorAnswer.json(["per_minute": limit.map(JSONValue.integer) ?? .null, "left": limit == nil ? .null : .integer(left)])
    }
}
