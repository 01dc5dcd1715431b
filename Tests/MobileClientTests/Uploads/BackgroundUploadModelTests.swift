import Testing

@testable import MobileClient

/// All orders of events around ``BackgroundUploadReducer``, with an end of the process between any two effects.
@Suite struct BackgroundUploadModelTests {
    /// One order, a server that answers by its content, and everything that iOS does to an upload.
    private enum Ends: CheckedModel {
        static var initial: [UploadWorld] {
            let budget = UploadWorld.Budget(
                crashes: 2, lostAnswers: 1, repeatedPosts: 1, omittedTasks: 1, wakeUps: 2, deadlines: 1)
            return UploadWorld.starts(orders: 1, budget)
        }
        static func steps(from world: UploadWorld) -> [(name: String, world: UploadWorld)] { world.steps() }
        static func violation(of world: UploadWorld) -> String? { world.violation }
        static func violationAtEnd(of world: UploadWorld) -> String? { world.violationAtEnd }
    }

    /// One order, bearers that are refused and missing, a server that is full, and a disk that is.
    private enum Refusals: CheckedModel {
        static var initial: [UploadWorld] {
            let budget = UploadWorld.Budget(
                crashes: 1, refusedBearers: 2, missingBearers: 1, overloads: 1, failedSaves: 1, wakeUps: 1)
            return UploadWorld.starts(orders: 1, budget)
        }
        static func steps(from world: UploadWorld) -> [(name: String, world: UploadWorld)] { world.steps() }
        static func violation(of world: UploadWorld) -> String? { world.violation }
        static func violationAtEnd(of world: UploadWorld) -> String? { world.violationAtEnd }
    }

    /// One order that the app, a sign-out or its age ends while it is uploaded.
    private enum Interventions: CheckedModel {
        static var initial: [UploadWorld] {
            let budget = UploadWorld.Budget(
                crashes: 1, failedSaves: 1, omittedTasks: 1, wakeUps: 1, cancellations: 1, signOuts: 1, expiries: 1)
            return UploadWorld.starts(orders: 1, budget)
        }
        static func steps(from world: UploadWorld) -> [(name: String, world: UploadWorld)] { world.steps() }
        static func violation(of world: UploadWorld) -> String? { world.violation }
        static func violationAtEnd(of world: UploadWorld) -> String? { world.violationAtEnd }
    }

    /// One order of an app that the user ends, leaves and opens again.
    private enum Moves: CheckedModel {
        static var initial: [UploadWorld] {
            UploadWorld.starts(orders: 1, UploadWorld.Budget(crashes: 1, forceQuits: 1, lostAnswers: 1, wakeUps: 2, moves: 1))
        }
        static func steps(from world: UploadWorld) -> [(name: String, world: UploadWorld)] { world.steps() }
        static func violation(of world: UploadWorld) -> String? { world.violation }
        static func violationAtEnd(of world: UploadWorld) -> String? { world.violationAtEnd }
    }

    /// Two orders with one session and one completion handler.
    private enum Two: CheckedModel {
        static var initial: [UploadWorld] {
            UploadWorld.starts(orders: 2, UploadWorld.Budget(crashes: 1, refusedBearers: 1, wakeUps: 1))
        }
        static func steps(from world: UploadWorld) -> [(name: String, world: UploadWorld)] { world.steps() }
        static func violation(of world: UploadWorld) -> String? { world.violation }
        static func violationAtEnd(of world: UploadWorld) -> String? { world.violationAtEnd }
    }

    @Test func `an upload ends once whatever iOS does to it`() { expectHolds(Ends.self, atLeast: 10_000, maxWorlds: 300_000) }
    @Test func `an upload ends once whatever is refused`() { expectHolds(Refusals.self, atLeast: 5_000, maxWorlds: 300_000) }
    @Test func `an upload ends once whatever ends it`() { expectHolds(Interventions.self, atLeast: 5_000, maxWorlds: 300_000) }
    @Test func `an upload ends once wherever the app is`() { expectHolds(Moves.self, atLeast: 5_000, maxWorlds: 300_000) }
    @Test func `two uploads end once each`() { expectHolds(Two.self, atLeast: 10_000, maxWorlds: 300_000) }
}

extension UploadWorld {
    /// The app was just opened; each order is one that the server accepts, or one that it refuses.
    static func starts(orders: Int, _ budget: Budget) -> [UploadWorld] {
        (0..<(1 << orders)).map { refusable in
            var world = UploadWorld(orders: orders, budget: budget)
            for index in 0..<orders { world.orders[index].isRefusable = refusable >> index & 1 == 1 }
            world.launch(inForeground: true)
            return world
        }
    }
}
