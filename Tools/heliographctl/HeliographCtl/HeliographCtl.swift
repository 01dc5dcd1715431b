public import ArgumentParser
internal import BuildVersion
internal import CommandLineSupport

/// The operator's command, with a group of subcommands for each part of an installation.
public struct HeliographCtl: AsyncParsableCommand {
    /// The help of the command, its subcommands and its exit codes.
    public static let configuration = CommandConfiguration(
        commandName: "heliographctl",
        abstract: "Operate a Heliograph installation.",
        discussion: """
            A first start, on an empty database:

              heliographctl keys generate >> heliograph.env
              export DATABASE_URL=postgresql://heliograph@127.0.0.1:5432/heliograph
              heliographctl migrate up --wait 30

            Day by day:

              heliographctl status
              heliographctl streams
              heliographctl trace <X-Request-ID>
              heliographctl dlq list

            Settings come from the same environment variables that the services read.

            Exit codes: 0 done, a list without rows as well · 1 failed, what was named does not exist, or something is wrong (`status`) · \
            3 migrations are pending (`migrate status --check`) · 64 wrong arguments · 75 a server cannot be reached · 78 a setting is \
            missing or wrong.
            """, version: HeliographVersion.current,
        subcommands: [
            StatusCommand.self, StreamsCommand.self, TopCommand.self, DlqCommand.self, TraceCommand.self, PushCommand.self,
            NotificationsCommand.self, TemplatesCommand.self, UsersCommand.self, SessionsCommand.self, LocksCommand.self, AuditCommand.self,
            CredentialsCommand.self, ReportsCommand.self,
            FacesCommand.self, MigrateCommand.self, RedisCommandGroup.self, KeysCommand.self,
        ]
    )

    /// Creates the command; the arguments are parsed into it.
    public init() {}

    /// Runs the command of the process's arguments, and ends the process with its exit code.
    ///
    /// An error that no command has caught may quote a server or a user: it is printed like everything else, without control characters.
    public static func execute() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            let code = exitCode(for: error)
            let write = code.isSuccess ? Console.current.result : Console.current.note
            // Help is such an error too, and has several lines.
            let text = fullMessage(for: error)
            if !text.isEmpty { PrintableText.lines(of: text).forEach(write) }
            exit(withError: code)
        }
    }
}

extension ExitCode {
    /// The requested object does not exist.
    static let nothingFound = ExitCode.failure
    /// Migrations are pending.
    static let pending = ExitCode(3)
}
