internal import ArgumentParser

/// The commands for the server of the streams.
struct RedisCommandGroup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redis",
        abstract: "Give the services their users in Redis.",
        subcommands: [RedisACLCommand.self]
    )
}
