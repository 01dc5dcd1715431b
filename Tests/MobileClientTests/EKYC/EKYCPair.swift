@testable import MobileClient

/// A session and a second one that is begun in place of it, in one process.
struct EKYCPair: Hashable {
    enum Stage: Hashable {
        case first
        /// The app has called for the second, and the call has not returned.
        case between
        case second
    }

    var first: EKYCWorld
    var second: EKYCWorld?
    var stage = Stage.first
    var crashes = 1
    /// Whether the disk has space for the second for certain.
    var hasSpace = false

    func with(_ change: (inout Self) -> Void) -> Self {
        var next = self
        change(&next)
        return next
    }

    /// A session with nothing but the API and the app.
    static func calm() -> EKYCWorld {
        EKYCWorld(.signIn, crashes: 0, losses: 0, refusals: 0, pushes: 0).with {
            ($0.stops, $0.storageFaults, $0.passesTime) = (0, 0, false)
        }
    }

    /// The steps of the sessions, and the ends of the process.
    func stepsOfEach() -> [(name: String, world: Self)] {
        var steps = first.steps().map { step in ("first: \(step.name)", with { $0.first = step.world }) }
        for step in second?.steps() ?? [] { steps.append(("second: \(step.name)", with { $0.second = step.world })) }
        if crashes > 0 { steps += crashing() }
        return steps
    }

    func launching() -> Self {
        with {
            $0.first = $0.first.launching()
            $0.second = $0.second?.launching()
        }
    }

    private func crashing() -> [(name: String, world: Self)] {
        var steps: [(name: String, world: Self)] = []
        for first in first.crashing() {
            for second in second.map({ $0.crashing().map(Optional.some) }) ?? [nil] {
                let world = with {
                    ($0.first, $0.second) = (first.world, second?.world)
                    $0.crashes -= 1
                }
                steps.append(("\(first.name) (\(second?.name ?? "one session"))", world))
            }
        }
        return steps
    }
}
