import Synchronization

/// The faults asked for and not yet used up, oldest first.
final class FaultRules: Sendable {
    private struct State {
        var rules: [(id: Int, rule: FaultRule)] = []
        var nextID = 1
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Adds a rule and says its number; nil when there are too many.
    func add(_ rule: FaultRule) -> Int? {
        state.withLock { state in
            guard state.rules.count < limit else { return nil }
            defer { state.nextID += 1 }
            state.rules.append((state.nextID, rule))
            return state.nextID
        }
    }

    func removeAll() { state.withLock { $0.rules = [] } }

    /// Removes one rule and says whether it was there.
    func remove(_ id: Int) -> Bool {
        state.withLock { state in
            let before = state.rules.count
            state.rules.removeAll { $0.id == id }
            return state.rules.count < before
        }
    }

    var all: [(id: Int, rule: FaultRule)] { state.withLock { $0.rules } }

    /// The rule that applies to a request, which counts as one use of it.
    func take(_ endpoint: FaultRule.Endpoint, registration: String?) -> FaultRule? {
        state.withLock { state in
            for index in state.rules.indices {
                let rule = state.rules[index].rule
                guard rule.endpoint == endpoint, rule.registration == nil || rule.registration == registration else {
                    continue
                }
                if rule.skip > 0 {
                    state.rules[index].rule.skip -= 1
                    continue
                }
                if let count = rule.count {
                    if count > 1 { state.rules[index].rule.count = count - 1 } else { state.rules.remove(at: index) }
                }
                return rule
            }
            return nil
        }
    }
}
