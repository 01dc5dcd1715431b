internal import Accounts
public import ArgumentParser
internal import CommandLineSupport

/// The commands for the secrets of an installation.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, rotate and verify the secrets that seal and look up personal data.",
        subcommands: [KeysGenerateCommand.self, KeysStatusCommand.self, KeysRotateCommand.self, KeysVerifyCommand.self]
    )
}

extension KeyPurpose: ExpressibleByArgument {}
