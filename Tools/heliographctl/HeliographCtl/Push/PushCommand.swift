internal import ArgumentParser
internal import CommandLineSupport

/// The commands for pushes.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Report the outcomes of pushes.",
        subcommands: [PushReportCommand.self]
    )
}
