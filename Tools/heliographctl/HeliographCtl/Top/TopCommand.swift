internal import ArgumentParser
internal import CommandLineSupport
internal import EventBus
internal import PostgresClient

/// A live view of the whole bus.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch the bus live: rates, backlog, oldest, retries, dead letters, consumers.",
        discussion: """
            APPEND/S: entries per second appended to the stream, retries included. SETTLE/S: entries per second that the \
            group settled: handled, moved to a retry, or dead-lettered. BACKLOG: its undelivered and pending entries. \
            q quits. When the output is not a terminal, every refresh is printed below the last.

              heliographctl top
              heliographctl top --interval 5s
              heliographctl top --interval 10s --count 360 > hour.log
            """
    )

    @OptionGroup var servers: ServerOptions
    @OptionGroup var live: LiveOptions

    func run() async throws {
        try await servers.withServers { transport, postgres in
            let style = Console.current.style
            var view = TopView(interval: live.interval.duration)
            try await live.view(canDraw: true).run {
                do {
                    view.add(try await BusSnapshot(transport, postgres))
                } catch {
                    // The view goes on, because operators need it most while a server is down.
                    guard view.hasSnapshot, let server = Self.unavailableServer(error) else { throw error }
                    view.fail("\(server) does not answer; these are the last known figures.")
                }
                return view
            } render: { view, size in
                view.lines(style, size: size)
            }
        }
    }

    /// The server that does not answer; nil for any other error.
    private static func unavailableServer(_ error: any Error) -> String? {
        switch error {
        case let error as EventBusError where error.code == .unavailable: "Redis"
        case let error as PostgresError where error.isRetryable: "The database"
        default: nil
        }
    }
}
