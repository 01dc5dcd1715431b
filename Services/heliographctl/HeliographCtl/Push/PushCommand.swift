internal import ArgumentParser

/// Looks at pushes.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Say what became of pushes.",
        subcommands: [PushReportCommand.self]
    )
}
