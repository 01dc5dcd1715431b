internal import ArgumentParser
internal import CommandLineSupport

/// The refresh interval of a view, and the number of refreshes.
struct LiveOptions: ParsableArguments {
    private static let defaultInterval = TimeSpan(.seconds(1))

    @Option(name: .long, help: ArgumentHelp("The refresh interval: 100ms to 3600s.", valueName: "time"))
    var interval = Self.defaultInterval

    @Option(name: .long, help: ArgumentHelp("Stop after this number of refreshes.", valueName: "number"))
    var count: Int?

    mutating func validate() throws {
        guard count.map({ $0 > 0 }) ?? true else { throw ValidationError("--count is 1 or more.") }
        guard (.milliseconds(100) ... .seconds(3600)).contains(interval.duration) else {
            throw ValidationError("--interval is 100ms to 3600s.")
        }
    }

    var isDefault: Bool { interval == Self.defaultInterval && count == nil }

    /// Creates the view of these options.
    ///
    /// - Parameter canDraw: Whether the view may take the whole screen of a terminal.
    func view(canDraw: Bool) -> LiveView {
        LiveView(interval: interval.duration, count: count, isDrawn: canDraw && Console.current.isScreen)
    }
}
