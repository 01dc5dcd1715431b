import AsyncPrimitives
import Testing

@testable import IdentityAPI

@Suite struct SigningKeyCacheTests {
    private static let start = ContinuousClock.now
    private var cache = SigningKeyCache<Int>(now: start)

    /// The answer to a look-up at a number of seconds.
    private mutating func find(_ id: String, at seconds: Double) -> String {
        switch cache.find(id, at: Self.start + .seconds(seconds)) {
        case .known(let key): "\(key)"
        case .unknown: "unknown"
        case .undecided: "undecided"
        case .wait: "wait"
        case .fetch: "fetch"
        }
    }

    private mutating func finish(_ keys: [String: Int], lifetime: Int = 3_600, at seconds: Double) {
        cache.finish(FetchedKeys(keys: keys, lifetime: .seconds(lifetime)), at: Self.start + .seconds(seconds))
    }

    private mutating func fail(at seconds: Double) { cache.finishFailed(at: Self.start + .seconds(seconds), random: 0) }

    /// Seconds from the start to the next fetch in the background, to the millisecond.
    private var nextFetch: Double { ((cache.nextFetch - Self.start) / .milliseconds(1)).rounded() / 1_000 }

    private mutating func refresh(at seconds: Double) -> Bool { cache.beginRefresh(at: Self.start + .seconds(seconds)) }

    @Test mutating func `the first look-up fetches, and others wait for that fetch`() {
        #expect(find("a", at: 0) == "fetch")
        #expect(find("a", at: 0) == "wait" && find("b", at: 0) == "wait" && !refresh(at: 0))
        finish(["a": 1], at: 1)
        #expect(find("a", at: 1) == "1")
    }

    @Test mutating func `keys are fetched again before they expire, and used meanwhile`() {
        #expect(refresh(at: 0))
        finish(["a": 1], at: 0)
        #expect(nextFetch == 3_000)
        #expect(!refresh(at: 2_999) && refresh(at: 3_000))
        #expect(find("a", at: 3_001) == "1")
        finish(["b": 2], at: 3_002)
        #expect(find("b", at: 3_002) == "2" && !cache.has("a", at: Self.start + .seconds(3_002)))
    }

    @Test(arguments: [(0, 50.0), (60, 50), (3_600, 3_000), (86_400, 72_000), (1_000_000, 72_000)])
    mutating func `the server's lifetime is bounded both ways`(lifetime: Int, next: Double) {
        finish(["a": 1], lifetime: lifetime, at: 0)
        #expect(nextFetch == next)
    }

    @Test mutating func `an unknown key is fetched for at most once a minute`() {
        finish(["a": 1], at: 0)
        #expect(find("b", at: 10) == "fetch")
        finish(["a": 1], at: 11)
        #expect(find("b", at: 12) == "unknown" && find("c", at: 69) == "unknown" && find("a", at: 69) == "1")
        #expect(find("b", at: 70) == "fetch" && find("c", at: 70) == "wait")
        finish(["a": 1, "b": 2], at: 71)
        #expect(find("b", at: 71) == "2" && find("c", at: 72) == "unknown")
    }

    @Test mutating func `a fetch that began before a rotation does not use up the one for an unknown key`() {
        finish(["a": 1], at: 0)
        #expect(refresh(at: 3_000))
        #expect(find("b", at: 3_001) == "wait")
        finish(["a": 1], at: 3_002)
        #expect(find("b", at: 3_002) == "fetch")
    }

    @Test mutating func `keys are used while their server fails, up to a day after they expired`() {
        finish(["a": 1], at: 0)
        var time = 3_000.0
        for delay in [1.0, 2, 4, 8, 16, 32, 60, 60] {
            #expect(refresh(at: time))
            fail(at: time)
            #expect(nextFetch == time + delay && !refresh(at: time + delay - 0.5))
            time += delay
        }
        #expect(find("a", at: 3_600 + 86_399) == "1")
        #expect(find("a", at: 3_600 + 86_400) == "fetch", "they are too old")
        fail(at: 90_001)
        #expect(find("a", at: 90_002) == "undecided" && find("b", at: 90_002) == "undecided")
        finish(["a": 2], at: 90_100)
        #expect(find("a", at: 90_100) == "2")
    }

    @Test mutating func `without keys nothing can be said, and a failed fetch is not repeated at once`() {
        #expect(find("a", at: 0) == "fetch")
        fail(at: 5)
        #expect(find("a", at: 5.5) == "undecided")
        #expect(find("a", at: 6) == "fetch")
        fail(at: 6)
        #expect(find("a", at: 7) == "undecided" && find("a", at: 8) == "fetch")
    }

    @Test mutating func `an unknown key is no invalid one while the server fails`() {
        finish(["a": 1], at: 0)
        #expect(find("b", at: 10) == "fetch")
        fail(at: 11)
        #expect(find("b", at: 11) == "undecided" && find("a", at: 11) == "1")
    }
}
