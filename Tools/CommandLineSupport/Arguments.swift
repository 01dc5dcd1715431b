package import ArgumentParser
package import Logging
internal import ServiceDefaults

/// A rate in the syntax of the command line: `10/s`, `10`, `90/min`, `500/h`.
package struct RateArgument: ExpressibleByArgument, Equatable {
    package let perSecond: Double

    package init?(argument: String) {
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let seconds: [Substring: Double] = ["s": 1, "min": 60, "h": 3_600]
        guard let number = Double(parts[0]), let unit = seconds[parts.count > 1 ? parts[1] : "s"],
            (0.0001...10_000).contains(number / unit)
        else { return nil }
        perSecond = number / unit
    }

    /// Waits for the time between two at this rate.
    package func pause() async throws { try await Task.sleep(for: .seconds(1 / perSecond)) }
}

/// A duration in the syntax of the command line: `500ms`, `90s`, `30m`, `24h`, `7d`; up to 30 days.
package struct TimeSpan: ExpressibleByArgument, Equatable {
    private static let maxDuration: Duration = .seconds(30 * 86_400)

    package let duration: Duration

    package init(_ duration: Duration) { self.duration = duration }

    package init?(argument: String) {
        guard let duration = HumanUnits.duration(argument), duration <= Self.maxDuration else { return nil }
        self.duration = duration
    }

    package var defaultValueDescription: String { HumanUnits.age(duration) }
}

extension ExitCode {
    /// A server cannot be reached; the same may succeed later (EX_TEMPFAIL of sysexits.h).
    package static let unavailable = ExitCode(75)
    /// A setting is missing or wrong (EX_CONFIG of sysexits.h).
    package static let configuration = ExitCode(78)
}

/// Runs `body`; on a configuration error notes the missing or wrong setting and ends the command.
///
/// - Parameter option: The option that can replace the setting; nil without such an option.
package func reporting<Value>(hint option: String? = nil, _ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as ConfigurationError {
        Console.current.note("\(error)" + (option.map { " (or pass \($0))" } ?? ""))
        throw ExitCode.configuration
    }
}

extension Logger {
    /// A logger without output, because the commands report errors themselves and log lines would disturb their output.
    package static var silent: Logger { Logger(label: "command", factory: { _ in SwiftLogNoOpLogHandler() }) }
}
