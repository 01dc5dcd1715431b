internal import ArgumentParser
internal import CommandLineSupport

/// The commands for pushes.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Explain why a push was not shown, and report the outcomes of pushes.",
        subcommands: [PushWhyCommand.self, PushReportCommand.self]
    )
}
