#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// How long answers are held back.
public enum FaultLatency: Sendable, Equatable {
    /// All the same time.
    case fixed(Duration)
    /// Any time between the two, all as likely.
    case uniform(Duration, Duration)
    /// A log-normal distribution, as latencies of services are: half are under the first, one in a hundred over the second.
    case logNormal(p50: Duration, p99: Duration)

    /// All the same time, in milliseconds.
    public static func milliseconds(_ count: Int) -> FaultLatency { .fixed(.milliseconds(count)) }
    /// All the same time, in seconds.
    public static func seconds(_ count: Int) -> FaultLatency { .fixed(.seconds(count)) }

    /// How far the 99th percentile of a normal distribution is from its middle, in standard deviations.
    private static let p99Deviations = 2.326_347_874

    /// One latency.
    func sample() -> Duration {
        switch self {
        case .fixed(let duration): return duration
        case .uniform(let least, let most): return least + (most - least) * Double.random(in: 0...1)
        case .logNormal(let p50, let p99):
            let ratio = max(p99 / max(p50, .nanoseconds(1)), 1)
            // Box and Muller's transform of two even numbers into a normal one.
            let normal =
                (-2 * log(Double.random(in: Double.leastNonzeroMagnitude...1))).squareRoot()
                * cos(2 * Double.pi * Double.random(in: 0..<1))
            return p50 * exp(log(ratio) / Self.p99Deviations * normal)
        }
    }
}
