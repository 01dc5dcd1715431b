internal import ArgumentParser

/// A span of whole seconds as people write it: `90s`, `30m`, `24h`, `7d`; up to 30 days.
struct Span: ExpressibleByArgument, Equatable {
    private static let secondsMax = 30 * 86_400

    let seconds: Int

    init(seconds: Int) { self.seconds = seconds }

    init?(argument: String) {
        guard let duration = HumanUnits.duration(argument), let seconds = Int(exactly: duration.seconds),
            (0...Self.secondsMax).contains(seconds)
        else { return nil }
        self.seconds = seconds
    }

    var duration: Duration { .seconds(seconds) }
    var defaultValueDescription: String { HumanUnits.age(duration) }
}
