import Testing

@testable import HeliographLoad

struct LoadRecorderTests {
    private let start = ContinuousClock.now

    private func arrival(_ seconds: Double, _ kind: LoadKind = .signIn) -> Arrival {
        Arrival(number: 0, offset: .seconds(seconds), kind: kind)
    }

    @Test func `a latency runs from the scheduled start, however late the action started`() throws {
        let recorder = LoadRecorder(start: start, warmUp: .zero)
        let late = arrival(1)
        recorder.begin(late)
        recorder.reach(.done, late, at: start + .seconds(4))
        let latency = try #require(recorder.snapshot.tallies[.signIn]?.latencies[.done]?.max)
        #expect(latency == .seconds(3))
    }

    @Test func `actions of the warm-up are not counted`() {
        let recorder = LoadRecorder(start: start, warmUp: .seconds(10))
        let early = arrival(9.9)
        recorder.begin(early)
        #expect(recorder.inFlight == 1)
        recorder.reach(.done, early)
        recorder.finish(early, nil)
        recorder.skip(early, because: "no room")
        #expect(recorder.snapshot.tallies.isEmpty && recorder.snapshot.lateness.count == 0 && recorder.inFlight == 0)
    }

    @Test func `failures, refusals and actions not started are counted separately`() throws {
        let recorder = LoadRecorder(start: start, warmUp: .zero)
        for failure in [
            LoadFailure(at: .done, "failed: no_match"), LoadFailure(.refused, at: .answer, "429 rate_limited", retryAfter: .seconds(3)),
            LoadFailure(.refused, at: .answer, "429 rate_limited", retryAfter: .seconds(9)), nil,
        ] {
            recorder.begin(arrival(0))
            recorder.finish(arrival(0), failure)
        }
        recorder.skip(arrival(0), because: "no room")
        let tally = try #require(recorder.snapshot.tallies[.signIn])
        #expect(tally.asked == 5 && tally.succeeded == 1)
        #expect([.failed, .refused, .notStarted].map(tally.count) == [1, 2, 1])
        #expect(tally.failures[LoadFailure(.refused, at: .answer, "429 rate_limited")] == 2)
    }
}
