import FoundationEssentials
import Synchronization

/// The fault rules that are not used up, oldest first; the first rule that matches and hits applies to a request.
final class FaultRules: Sendable {
    /// A rule that is in force, or will be, with its time window.
    struct Entry: Sendable {
        let id: Int
        let startsAt: Date
        let endsAt: Date?
        var rule: FaultRule
        /// Number of requests it matched since the last request that `every` selected; skipped requests are not counted.
        var matched = 0
    }

    private struct State {
        var rules: [Entry] = []
        var nextID = 1
    }

    private let state = Mutex(State())
    /// Lets a request pass without taking the lock while there are no rules, which is nearly always.
    private let hasRules = Atomic(false)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Adds a rule and returns its number; nil when there are too many.
    func add(_ rule: FaultRule, now: Date) -> Int? {
        state.withLock { state in
            Self.removeEnded(&state, now: now)
            guard state.rules.count < limit else { return nil }
            defer { state.nextID += 1 }
            let start = now.addingTimeInterval(rule.startsInSeconds)
            let end = rule.lastsSeconds.map { start.addingTimeInterval($0) }
            state.rules.append(Entry(id: state.nextID, startsAt: start, endsAt: end, rule: rule))
            hasRules.store(true, ordering: .releasing)
            return state.nextID
        }
    }

    func removeAll() {
        state.withLock { state in
            state.rules = []
            hasRules.store(false, ordering: .releasing)
        }
    }

    /// Removes one rule and returns whether it existed.
    func remove(_ id: Int) -> Bool {
        state.withLock { state in
            let before = state.rules.count
            state.rules.removeAll { $0.id == id }
            hasRules.store(!state.rules.isEmpty, ordering: .releasing)
            return state.rules.count < before
        }
    }

    /// Returns the rules that are in force, or will be.
    func all(now: Date) -> [Entry] {
        state.withLock { state in
            Self.removeEnded(&state, now: now)
            return state.rules
        }
    }

    private static func removeEnded(_ state: inout State, now: Date) {
        state.rules.removeAll { $0.endsAt.map { $0 <= now } ?? false }
    }

    /// Returns the rule that applies to a request, and counts one use of it.
    ///
    /// - Parameters:
    ///   - step: The step of a mail.
    ///   - recipients: The recipients that the step is about.
    ///   - target: Returns the target of the request; called only when a rule depends on it.
    func take(
        _ endpoint: FaultRule.Endpoint, now: Date, step: MailStep? = nil, recipients: [String] = [],
        target: () -> (registration: String?, platform: DevicePlatform?) = { (nil, nil) }
    ) -> Entry? {
        guard hasRules.load(ordering: .acquiring) else { return nil }
        let isTargeted = state.withLock { $0.rules.contains { $0.rule.registration != nil || $0.rule.platform != nil } }
        let (registration, platform) = isTargeted ? target() : (nil, nil)
        return state.withLock { state in
            Self.removeEnded(&state, now: now)
            for index in state.rules.indices {
                let rule = state.rules[index].rule
                guard rule.endpoint == endpoint, state.rules[index].startsAt <= now, step == nil || rule.step == step,
                    rule.recipient.map({ wanted in recipients.contains { $0.lowercased() == wanted.lowercased() } }) ?? true,
                    rule.registration == nil || rule.registration == registration,
                    rule.platform == nil || rule.platform == platform, Self.hits(&state.rules[index])
                else { continue }
                let entry = state.rules[index]
                if let count = rule.count {
                    if count > 1 { state.rules[index].rule.count = count - 1 } else { state.rules.remove(at: index) }
                }
                hasRules.store(!state.rules.isEmpty, ordering: .releasing)
                return entry
            }
            return nil
        }
    }

    /// Returns whether a rule hits the request that it matches, after `skip`, `every` and `percent`.
    private static func hits(_ entry: inout Entry) -> Bool {
        if entry.rule.skip > 0 {
            entry.rule.skip -= 1
            return false
        }
        entry.matched += 1
        guard entry.matched >= entry.rule.every else { return false }
        entry.matched = 0
        return entry.rule.percent >= 100 || Double.random(in: 0..<100) < entry.rule.percent
    }
}
