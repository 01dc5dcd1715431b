internal import ArgumentParser

/// How often a view is renewed, and for how long.
struct LiveOptions: ParsableArguments {
    /// A span of time as people write it: `1s`, `0.5s`, `500ms`; a bare number is seconds.
    struct Interval: ExpressibleByArgument, Equatable {
        let duration: Duration

        init(duration: Duration) { self.duration = duration }

        init?(argument: String) {
            let text = argument.last?.isNumber == true ? argument + "s" : argument
            guard let duration = HumanUnits.duration(text), (0.1...3600).contains(duration.seconds) else { return nil }
            self.duration = duration
        }

        var defaultValueDescription: String { HumanUnits.age(duration) }
    }

    private static let defaultInterval = Interval(duration: .seconds(1))

    @Option(name: .long, help: ArgumentHelp("How often to look: 100ms to 3600s.", valueName: "time"))
    var interval = Self.defaultInterval

    @Option(name: .long, help: ArgumentHelp("Stop after so many looks.", valueName: "number"))
    var count: Int?

    mutating func validate() throws {
        guard count.map({ $0 > 0 }) ?? true else { throw ValidationError("--count is 1 or more.") }
    }

    var isDefault: Bool { interval == Self.defaultInterval && count == nil }

    /// The view that these options ask for.
    ///
    /// - Parameter canDraw: Whether what is shown may take the whole screen, if there is one.
    func view(canDraw: Bool) -> LiveView {
        LiveView(interval: interval.duration, count: count, isDrawn: canDraw && Console.current.isScreen)
    }
}
