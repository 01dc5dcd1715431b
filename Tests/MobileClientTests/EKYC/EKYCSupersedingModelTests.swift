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
        typealias World = EKYCPair

        static var initial: [World] {
            let first = EKYCPair.calm().with { $0.skipUpload() }
            return [World(first: first), World(first: first.with { $0.isRetakable = true })]
        }

        static func steps(from world: World) -> [(name: String, world: World)] {
            let isOver = world.first.isOver && world.second?.isOver == true
            guard !isOver else { return [] }
            guard world.first.state != nil else {
                // The call that was to begin the second has ended with the process.
                return [("a new process begins", world.launching().with { if $0.stage == .between { $0.stage = .first } })]
            }
            var steps = world.stepsOfEach()
            if world.first.effects.isEmpty {
                switch world.stage {
                case .first: steps.append(("the person begins a second", world.with { $0.supersede() }))
                case .between: steps.append(("the second is created", world.with { $0.createSecond() }))
                case .second: break
                }
            }
            return steps
        }

        static func violation(of world: World) -> String? {
            if let violation = world.first.violation ?? world.second?.violation { return violation }
            let isFirstKept = world.first.record.map { if case .ended = $0 { false } else { true } } ?? false
            if isFirstKept, world.second != nil { return "two sign-ins are pending" }
            if world.first.hasSecret, world.second != nil { return "a failed sign-in keeps its token beside another sign-in" }
            return nil
        }

        static func violationAtEnd(of world: World) -> String? {
            if let violation = world.first.violationAtEnd ?? world.second?.violationAtEnd { return violation }
            return world.second == nil ? "there is no second sign-in" : nil
        }
    }
}

extension EKYCPair {
    fileprivate mutating func supersede() {
        stage = .between
        first.isRetaken = true
        first.send(.stop(.superseded))
    }

    fileprivate mutating func createSecond() {
        stage = .second
        first.isSuperseded = true
        second = Self.calm()
    }
}
