internal import ArgumentParser

/// A rate in the syntax of the command line: `10/s`, `10`, `90/min`, `500/h`.
struct RateArgument: ExpressibleByArgument, Equatable {
    let perSecond: Double

    init?(argument: String) {
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let seconds: [Substring: Double] = ["s": 1, "min": 60, "h": 3_600]
        guard let number = Double(parts[0]), let unit = seconds[parts.count > 1 ? parts[1] : "s"],
            (0.0001...10_000).contains(number / unit)
        else { return nil }
        perSecond = number / unit
    }
}
