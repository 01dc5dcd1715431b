internal import Foundation
internal import Synchronization

/// The network of a phone: whether there is one, and what becomes of the next request.
final class PhoneNetwork: Sendable {
    /// What becomes of a request that there is a network for.
    enum Fate: Equatable, Sendable {
        case handled
        /// The API handles it, and its answer is lost.
        case answerLost
        /// Its answer comes so many seconds late.
        case slow(Double)
    }

    private struct State {
        var random: SimRandom
        var losses = 0
        var isFaulty = true
    }

    private let scenario: Scenario
    private let state: Mutex<State>

    init(_ scenario: Scenario, phone: Int) {
        self.scenario = scenario
        state = Mutex(State(random: SimRandom(seed: scenario.seed, stream: UInt64(phone) << 8 | 1)))
    }

    var isOnline: Bool { state.withLock { $0.losses == 0 } }

    /// Begins a period without network; periods may overlap.
    func lose() { state.withLock { $0.losses += $0.isFaulty ? 1 : 0 } }

    func restore() { state.withLock { $0.losses = max(0, $0.losses - 1) } }

    /// Ends all faults for good.
    func heal() {
        state.withLock { state in
            state.losses = 0
            state.isFaulty = false
        }
    }

    /// Decides about the next request.
    func fate() -> Fate {
        state.withLock { state in
            guard state.isFaulty else { return .handled }
            if state.random.chance(scenario.lostAnswers) { return .answerLost }
            return state.random.chance(scenario.slowAnswers) ? .slow(state.random.seconds(0.5...20)) : .handled
        }
    }

    /// The seconds after which a phone without network notices.
    func timeToNotice() -> Double { state.withLock { $0.random.seconds(0.02...0.4) } }
}
