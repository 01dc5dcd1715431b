import Testing

@testable import MobileClient

/// A second sign-in while a first is pending, in all orders, with an end of the process.
@Suite struct EKYCSupersedingModelTests {
    @Test func `of two sign-ins the second counts, and the first ends once`() {
        expectHolds(EKYCModels.Superseding.self, atLeast: 2_000, maxWorlds: 300_000)
    }
}

extension EKYCModels {
    enum Superseding: CheckedModel {
        struct World: Hashable {
            enum Stage: Hashable { case first, stopping, second }

            var first: EKYCWorld
            var second: EKYCWorld?
            var stage = Stage.first
            var crashes = 1

            func with(_ change: (inout Self) -> Void) -> Self {
                var next = self
                change(&next)
                return next
            }
        }

        /// One with nothing but the API and the app.
        private static func calm() -> EKYCWorld {
            EKYCWorld(.signIn, crashes: 0, losses: 0, refusals: 0, pushes: 0).with {
                ($0.stops, $0.storageFaults, $0.passesTime) = (0, 0, false)
            }
        }

        static var initial: [World] { [World(first: calm().with { $0.skipUpload() })] }

        static func steps(from world: World) -> [(name: String, world: World)] {
            let isOver = world.first.isOver && world.second?.isOver == true
            guard !isOver else { return [] }
            guard world.first.state != nil else { return [("a new process begins", launched(world))] }
            var steps = world.first.steps().map { step in ("first: \(step.name)", world.with { $0.first = step.world }) }
            for step in world.second?.steps() ?? [] { steps.append(("second: \(step.name)", world.with { $0.second = step.world })) }
            if world.crashes > 0 { steps += crashed(world) }
            if world.first.effects.isEmpty {
                switch world.stage {
                case .first: steps.append(("the person begins a second", world.with { $0.supersede() }))
                case .stopping: steps.append(("the second is created", world.with { $0.createSecond(calm()) }))
                case .second: break
                }
            }
            return steps
        }

        private static func launched(_ world: World) -> World {
            world.with {
                $0.first = $0.first.launching()
                $0.second = $0.second?.launching()
            }
        }

        private static func crashed(_ world: World) -> [(name: String, world: World)] {
            var steps: [(name: String, world: World)] = []
            for first in world.first.crashing() {
                for second in world.second.map({ $0.crashing().map(Optional.some) }) ?? [nil] {
                    steps.append(
                        (
                            "\(first.name) (\(second?.name ?? "one session"))",
                            world.with {
                                ($0.first, $0.second) = (first.world, second?.world)
                                $0.crashes -= 1
                                // The call that was to begin the second has ended with the process.
                                if $0.stage == .stopping { $0.stage = .first }
                            }
                        ))
                }
            }
            return steps
        }

        static func violation(of world: World) -> String? {
            if let violation = world.first.violation ?? world.second?.violation { return violation }
            let isFirstKept = world.first.record.map { if case .ended = $0 { false } else { true } } ?? false
            if isFirstKept, world.second != nil { return "two sign-ins are pending" }
            return nil
        }

        static func violationAtEnd(of world: World) -> String? {
            if let violation = world.first.violationAtEnd ?? world.second?.violationAtEnd { return violation }
            return world.second == nil ? "there is no second sign-in" : nil
        }
    }
}

extension EKYCModels.Superseding.World {
    mutating func supersede() {
        stage = .stopping
        first.send(.stop(.superseded))
    }

    mutating func createSecond(_ world: EKYCWorld) {
        stage = .second
        first.isSuperseded = true
        second = world
    }
}
