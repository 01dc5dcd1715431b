internal import ArgumentParser

/// The refresh interval of a view, and the number of refreshes.
struct LiveOptions: ParsableArguments {
    /// A duration in the syntax of the command line: `1s`, `0.5s`, `500ms`; a bare number is seconds.
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

    @Option(name: .long, help: ArgumentHelp("The refresh interval: 100ms to 3600s.", valueName: "time"))
    var interval = Self.defaultInterval

    @Option(name: .long, help: ArgumentHelp("Stop after this number of refreshes.", valueName: "number"))
    var count: Int?

    mutating func validate() throws {
        guard count.map({ $0 > 0 }) ?? true else { throw ValidationError("--count is 1 or more.") }
    }

    var isDefault: Bool { interval == Self.defaultInterval && count == nil }

    /// Creates the view of these options.
    ///
    /// - Parameter canDraw: Whether the view may take the whole screen of a terminal.
    func view(canDraw: Bool) -> LiveView {
        LiveView(interval: interval.duration, count: count, isDrawn: canDraw && Console.current.isScreen)
    }
}
