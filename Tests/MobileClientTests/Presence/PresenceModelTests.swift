import Testing

@testable import MobileClient

@Suite struct PresenceModelTests {
    private enum Screens: CheckedModel {
        static var initial: [PresenceWorld] {
            [
                PresenceWorld(budget: .init()),
                PresenceWorld(budget: .init(screens: 2, backgrounds: 0, refusals: 0, throttles: 1, outages: 0, renewals: 2)),
                PresenceWorld(budget: .init(screens: 2, backgrounds: 0, losses: 0, refusals: 1, outages: 0, registrations: 1)),
            ]
        }
        static func steps(from world: PresenceWorld) -> [(name: String, world: PresenceWorld)] { world.steps }
        static func violation(of world: PresenceWorld) -> String? { world.fault }
        static func violationAtEnd(of world: PresenceWorld) -> String? { world.isQuiet ? nil : "something is left to do" }
    }

    @Test func `the API knows what is on the screen, and no conversation that is not`() {
        expectHolds(Screens.self, atLeast: 5_000, maxWorlds: 300_000)
    }
}
