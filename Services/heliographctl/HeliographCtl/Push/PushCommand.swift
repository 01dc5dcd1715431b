internal import ArgumentParser

/// Looks at pushes, and after what is kept for their sake.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Say what became of pushes, and erase what is kept of people for their sake.",
        subcommands: [PushReportCommand.self, PushEraseCommand.self]
    )
}
