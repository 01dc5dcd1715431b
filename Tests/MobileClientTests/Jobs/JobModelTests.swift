import Testing

@Suite struct JobModelTests {
    @Test func `an order ends once, whatever crashes and is lost`() { expectHolds(JobCrashModel.self, atLeast: 5_000, maxWorlds: 300_000) }

    @Test func `an order that is cancelled ends once, as cancelled`() {
        expectHolds(JobCancelModel.self, atLeast: 5_000, maxWorlds: 300_000)
    }

    @Test func `an order that a stream follows ends once`() { expectHolds(JobStreamModel.self, atLeast: 5_000, maxWorlds: 300_000) }
}
