internal import ArgumentParser

/// A duration of whole seconds in the syntax of the command line: `90s`, `30m`, `24h`, `7d`; up to 30 days.
struct TimeSpan: ExpressibleByArgument, Equatable {
    private static let maxSeconds = 30 * 86_400

    let seconds: Int

    init(seconds: Int) { self.seconds = seconds }

    init?(argument: String) {
        guard let duration = HumanUnits.duration(argument), let seconds = Int(exactly: duration.seconds),
            (0...Self.maxSeconds).contains(seconds)
        else { return nil }
        self.seconds = seconds
    }

    var duration: Duration { .seconds(seconds) }
    var defaultValueDescription: String { HumanUnits.age(duration) }
}
