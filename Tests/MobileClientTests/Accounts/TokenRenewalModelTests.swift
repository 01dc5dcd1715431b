import Foundation
import Testing

@testable import MobileClient

/// What is true of all worlds of ``TokenRenewalWorld``, whatever may happen in them.
private protocol RenewalModel: CheckedModel where World == TokenRenewalWorld {
    static var budget: TokenRenewalWorld.Budget { get }
}

extension RenewalModel {
    static var initial: [TokenRenewalWorld] { [TokenRenewalWorld(budget)] }
    static func steps(from world: TokenRenewalWorld) -> [(name: String, world: TokenRenewalWorld)] { world.steps() }
    static func violation(of world: TokenRenewalWorld) -> String? { world.violation }

    static func violationAtEnd(of world: TokenRenewalWorld) -> String? {
        for process in world.processes {
            if process.caller != nil { return "a caller waits for ever" }
            switch process.state.phase {
            case .idle, .unsaved: continue
            default: return "a process is in \(process.state.phase) for ever"
            }
        }
        return nil
    }
}

@Suite struct TokenRenewalModelTests {
    private enum TwoProcesses: RenewalModel {
        static let budget = TokenRenewalWorld.Budget(needs: 2, ticks: 6)
    }

    private enum ShortLivedTokens: RenewalModel {
        static let budget = TokenRenewalWorld.Budget(needs: 3, ticks: 3, lifetime: 0)
    }

    private enum Losses: RenewalModel {
        static let budget = TokenRenewalWorld.Budget(needs: 3, ticks: 1, losses: 1)
    }

    private enum Crashes: RenewalModel {
        static let budget = TokenRenewalWorld.Budget(needs: 2, ticks: 5, crashes: 1)
    }

    private enum FullStore: RenewalModel {
        static let budget = TokenRenewalWorld.Budget(needs: 3, ticks: 1, crashes: 1, storeFailures: 1)
    }

    private enum SignInsAndSignOuts: RenewalModel {
        static let budget = TokenRenewalWorld.Budget(needs: 2, ticks: 2, signOuts: 1, signIns: 1)
    }

    private enum EndsAtAPI: RenewalModel {
        static let budget = TokenRenewalWorld.Budget(needs: 2, ticks: 0, losses: 1, signIns: 1, remoteEnds: 1)
    }

    @Test func `two processes with one store renew tokens without ending the sign-in`() {
        expectHolds(TwoProcesses.self, atLeast: 1000, maxWorlds: 300_000)
    }
    @Test func `tokens may be valid for no time`() { expectHolds(ShortLivedTokens.self, atLeast: 1000, maxWorlds: 300_000) }
    @Test func `requests and answers may be lost at any time`() { expectHolds(Losses.self, atLeast: 1000, maxWorlds: 300_000) }
    @Test func `a process may end at any time`() { expectHolds(Crashes.self, atLeast: 1000, maxWorlds: 300_000) }
    @Test func `the store may fail at any time`() { expectHolds(FullStore.self, atLeast: 1000, maxWorlds: 300_000) }
    @Test func `a person may sign out and in at any time`() { expectHolds(SignInsAndSignOuts.self, atLeast: 1000, maxWorlds: 300_000) }
    @Test func `the API may end a sign-in at any time`() { expectHolds(EndsAtAPI.self, atLeast: 1000, maxWorlds: 300_000) }
}
