import Testing

@testable import MobileClient

@Suite struct ReducerRunnerTests {
    /// Doubles each number below four, and reports what it has.
    private enum Doubling: Reducer {
        static func reduce(_ state: inout [Int], _ event: Int) -> [Int] {
            state.append(event)
            return event < 4 ? [event * 2, event * 2 + 1] : []
        }
    }

    @Test func `events that an effect returns come before those that wait`() async {
        let runner = ReducerRunner<Doubling>([]) { effect in effect % 2 == 0 ? [effect] : [] }
        await runner.send(1)
        #expect(await runner.state == [1, 2, 4])
    }

    @Test func `an event that is sent while another runs is handled after it, and its sender waits`() async {
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let runner = ReducerRunner<Doubling>([]) { effect in
            guard effect == 6 else { return [] }
            enter.yield()
            for await _ in released { break }
            return []
        }
        async let first: Void = runner.send(3)
        for await _ in entered { break }
        async let second: Void = runner.send(9)
        release.yield()
        _ = await (first, second)
        #expect(await runner.state == [3, 9])
    }
}
