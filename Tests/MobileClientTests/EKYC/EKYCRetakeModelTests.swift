import Testing

@testable import MobileClient

/// A retake of the photos of a failed sign-in, in all orders, with an end of the process and a full disk.
@Suite struct EKYCRetakeModelTests {
    @Test func `a retake has the token of its failed session, which keeps it for as long as a retake may use it`() {
        expectHolds(EKYCModels.Retaking.self, atLeast: 2_000, maxWorlds: 300_000)
    }
}

extension EKYCModels {
    enum Retaking: CheckedModel {
        typealias World = EKYCPair

        static var initial: [World] {
            let first = EKYCPair.calm().with {
                $0.skipUpload()
                ($0.verdict, $0.isRetakable) = (.failed, true)
            }
            return [World(first: first)]
        }

        static func steps(from world: World) -> [(name: String, world: World)] {
            guard !world.first.isOver || !(world.second?.isOver ?? true) || world.stage == .between else { return [] }
            guard world.first.state != nil else { return [("a new process begins", world.launchingRetake())] }
            // The app has no session to acknowledge before the call for it has returned.
            var steps = world.stepsOfEach().filter { world.stage == .second || $0.name != "second: the app takes the outcome" }
            switch world.stage {
            case .first where world.first.state?.activity == .awaitingRetake && world.first.effects.isEmpty:
                steps.append(("the app retakes the photos", world.with { $0.retake() }))
            case .between where world.second?.isCreationRefused == true && world.second?.isOver == true:
                steps.append(("the call fails", world.with { ($0.stage, $0.second, $0.hasSpace) = (.first, nil, true) }))
            case .between where world.second?.isCreated == true:
                steps.append(("the call returns", world.with { $0.closeRetake() }))
            case .first, .between, .second: break
            }
            return steps
        }

        static func violation(of world: World) -> String? {
            if let violation = world.first.violation ?? world.second?.violation { return violation }
            let isQuiet = world.first.state != nil && world.first.effects.isEmpty
            if world.stage == .second, isQuiet, world.first.hasSecret { return "a session keeps its token although it is retaken" }
            return nil
        }

        static func violationAtEnd(of world: World) -> String? { world.first.violationAtEnd ?? world.second?.violationAtEnd }
    }
}

extension EKYCPair {
    fileprivate mutating func retake() {
        stage = .between
        second = Self.calm().with {
            $0.isRetake = true
            $0.storageFaults = hasSpace ? 0 : 1
        }
    }

    fileprivate mutating func closeRetake() {
        stage = .second
        first.isRetaken = true
        first.send(.retakeClosed)
    }

    /// A retake that has its record goes on, and one without ends with the call for it.
    fileprivate func launchingRetake() -> Self {
        launching().with {
            guard $0.stage == .between else { return $0.stage == .second ? $0.closeRetake() : () }
            guard $0.second?.record != nil else { return ($0.stage, $0.second) = (.first, nil) }
            $0.closeRetake()
        }
    }
}
