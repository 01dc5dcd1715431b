#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The delay of answers.
public enum FaultLatency: Sendable, Equatable {
    /// The same time for all.
    case fixed(Duration)
    /// A uniform distribution between the two.
    case uniform(Duration, Duration)
    /// A log-normal distribution, as latencies of services are: half are under the first, one in a hundred over the second.
    case logNormal(p50: Duration, p99: Duration)

    /// The same time for all, in milliseconds.
    public static func milliseconds(_ count: Int) -> FaultLatency { .fixed(.milliseconds(count)) }
    /// The same time for all, in seconds.
    public static func seconds(_ count: Int) -> FaultLatency { .fixed(.seconds(count)) }

    /// Distance of the 99th percentile of a normal distribution from its mean, in standard deviations.
    private static let p99Deviations = 2.326_347_874

    /// Returns one random latency.
    func sample() -> Duration {
        switch self {
        case .fixed(let duration): return duration
        case .uniform(let least, let most): return least + (most - least) * Double.random(in: 0...1)
        case .logNormal(let p50, let p99):
            let ratio = max(p99 / max(p50, .nanoseconds(1)), 1)
            // The Box–Muller transform of two uniform random numbers into a normal one.
            let normal =
                (-2 * log(Double.random(in: Double.leastNonzeroMagnitude...1))).squareRoot()
                * cos(2 * Double.pi * Double.random(in: 0..<1))
            return p50 * exp(log(ratio) / Self.p99Deviations * normal)
        }
    }
}
