import Testing

@testable import RedisClient

@Suite struct ConnectionKeeperTests {
    private typealias Keeper = ConnectionKeeper<String, Int>
    private let refused = RedisError(.connectionFailed, "refused")

    @Test func `The first to come makes the connection and all who waited get it in order`() throws {
        var keeper = Keeper(maxWaiters: 10)
        #expect(wait(&keeper, as: 1) == 1)
        #expect(wait(&keeper, as: 2) == nil, "an attempt is under way")
        #expect(keeper.connected("a") == [1, 2])
        #expect(keeper.connection == "a")
        guard case .use("a") = keeper.access() else { return #expect(Bool(false)) }
    }

    @Test func `A failed attempt is repeated after a pause and failures are counted until one succeeds`() {
        var keeper = Keeper(maxWaiters: 10)
        _ = wait(&keeper, as: 1)
        #expect(keeper.failed(refused)?.failures == 1)
        #expect(keeper.start() == nil, "it is not its time")
        #expect(keeper.pauseEnded() == 2)
        #expect(keeper.pauseEnded() == nil)
        #expect(keeper.failed(refused)?.failures == 2)
        #expect(keeper.lastFailure?.code == .connectionFailed)
        #expect(keeper.pauseEnded() == 3)
        #expect(keeper.connected("a") == [1])
        #expect(keeper.lost(3, refused) == 4)
        #expect(keeper.failed(refused)?.failures == 1)
    }

    @Test func `A lost connection is made again once, and news of an old one are ignored`() {
        var keeper = Keeper(maxWaiters: 10)
        #expect(keeper.start() == 1)
        _ = keeper.connected("a")
        #expect(keeper.lost(1, refused) == 2)
        #expect(keeper.lost(1, refused) == nil)
        _ = keeper.connected("b")
        #expect(keeper.lost(1, refused) == nil)
        #expect(keeper.connection == "b")
    }

    @Test func `Nobody waits for a password to become right`() {
        var keeper = Keeper(maxWaiters: 10)
        _ = wait(&keeper, as: 1)
        #expect(keeper.failed(RedisError(.authenticationFailed, "no"))?.hopeless == [1])
        #expect(keeper.removeWaiter(1) == nil)
    }

    @Test func `More than the limit may not wait`() {
        var keeper = Keeper(maxWaiters: 1)
        _ = wait(&keeper, as: 1)
        guard case .refused(let error) = keeper.access() else { return #expect(Bool(false)) }
        #expect(error.code == .queueFull)
        #expect(keeper.removeWaiter(1) == 1)
        guard case .wait = keeper.access() else { return #expect(Bool(false)) }
    }

    @Test func `After shutting down nothing is given out and an attempt under way is for nothing`() {
        var keeper = Keeper(maxWaiters: 10)
        _ = wait(&keeper, as: 1)
        let (connection, waiters) = keeper.shutDown()
        #expect(connection == nil && waiters == [1])
        #expect(keeper.connected("a") == nil)
        #expect(keeper.failed(refused) == nil)
        guard case .refused(let error) = keeper.access() else { return #expect(Bool(false)) }
        #expect(error.code == .shutDown)
    }

    @Test func `Pauses double up to the limit and are shortened at random by up to a half`() {
        let backoff = Backoff(min: .milliseconds(50), max: .seconds(2))
        #expect(backoff.pause(afterFailures: 1, random: 1) == .milliseconds(50))
        #expect(backoff.pause(afterFailures: 1, random: 0) == .milliseconds(25))
        #expect(backoff.pause(afterFailures: 4, random: 1) == .milliseconds(400))
        #expect(backoff.pause(afterFailures: 1000, random: 1) == .seconds(2))
    }

    /// Has a task wait, and returns the attempt that it must make.
    private func wait(_ keeper: inout Keeper, as waiter: Int) -> UInt64? {
        guard case .wait(let number, let attempt) = keeper.access() else { return 999 }
        keeper.add(waiter, as: number)
        return attempt
    }
}
