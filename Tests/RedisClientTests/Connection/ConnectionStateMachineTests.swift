import Testing

@testable import RedisClient

@Suite struct ConnectionStateMachineTests {
    private typealias Machine = ConnectionStateMachine<String, Int>
    private let refused = RedisError(.connectionFailed, "refused")

    @Test func `The first waiter starts the attempt, and all waiters get the connection in order`() throws {
        var machine = Machine(maxWaiters: 10)
        #expect(wait(&machine, as: 1) == 1)
        #expect(wait(&machine, as: 2) == nil, "an attempt is under way")
        #expect(machine.connected("a") == [1, 2])
        #expect(machine.connection == "a")
        guard case .use("a") = machine.access() else { return #expect(Bool(false)) }
    }

    @Test func `A failed attempt is retried after a pause, and failures are counted until one succeeds`() {
        var machine = Machine(maxWaiters: 10)
        _ = wait(&machine, as: 1)
        #expect(machine.failed(refused)?.failures == 1)
        #expect(machine.start() == nil, "the pause is not over")
        #expect(machine.pauseEnded() == 2)
        #expect(machine.pauseEnded() == nil)
        #expect(machine.failed(refused)?.failures == 2)
        #expect(machine.lastFailure?.code == .connectionFailed)
        #expect(machine.pauseEnded() == 3)
        #expect(machine.connected("a") == [1])
        #expect(machine.lost(3, refused) == 4)
        #expect(machine.failed(refused)?.failures == 1)
    }

    @Test func `Without retries a failed attempt fails its waiters, and the next request makes another`() {
        var machine = Machine(maxWaiters: 10, retries: false)
        #expect(wait(&machine, as: 1) == 1)
        let retry = machine.failed(refused)
        #expect(retry?.waitersToFail == [1] && retry?.failures == nil)
        #expect(machine.pauseEnded() == nil)
        #expect(wait(&machine, as: 2) == 2)
        #expect(machine.connected("a") == [2])
    }

    @Test func `A lost connection is made again once, and the loss of an older one is ignored`() {
        var machine = Machine(maxWaiters: 10)
        #expect(machine.start() == 1)
        _ = machine.connected("a")
        #expect(machine.lost(1, refused) == 2)
        #expect(machine.lost(1, refused) == nil)
        _ = machine.connected("b")
        #expect(machine.lost(1, refused) == nil)
        #expect(machine.connection == "b")
    }

    @Test func `A wrong password fails the waiters at once`() {
        var machine = Machine(maxWaiters: 10)
        _ = wait(&machine, as: 1)
        #expect(machine.failed(RedisError(.authenticationFailed, "no"))?.waitersToFail == [1])
        #expect(machine.removeWaiter(1) == nil)
    }

    @Test func `Waiters above the limit are refused`() {
        var machine = Machine(maxWaiters: 1)
        _ = wait(&machine, as: 1)
        guard case .refused(let error) = machine.access() else { return #expect(Bool(false)) }
        #expect(error.code == .queueFull)
        #expect(machine.removeWaiter(1) == 1)
        guard case .wait = machine.access() else { return #expect(Bool(false)) }
    }

    @Test func `After shutdown no connection is returned, and the outcome of an attempt under way is ignored`() {
        var machine = Machine(maxWaiters: 10)
        _ = wait(&machine, as: 1)
        let (connection, waiters) = machine.shutDown()
        #expect(connection == nil && waiters == [1])
        #expect(machine.connected("a") == nil)
        #expect(machine.failed(refused) == nil)
        guard case .refused(let error) = machine.access() else { return #expect(Bool(false)) }
        #expect(error.code == .shutDown)
    }

    /// Adds a waiter, and returns the attempt that the caller must make.
    private func wait(_ machine: inout Machine, as waiter: Int) -> UInt64? {
        guard case .wait(let number, let attempt) = machine.access() else { return 999 }
        machine.add(waiter, as: number)
        return attempt
    }
}
