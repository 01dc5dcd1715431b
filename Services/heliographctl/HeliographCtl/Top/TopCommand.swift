internal import ArgumentParser
internal import EventBus
internal import PostgresClient
internal import RedisClient

/// A live view of the whole bus.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch the bus live: rates, backlog, oldest, retries, dead letters, consumers.",
        discussion: """
            APPEND/S: entries a second that were put into the stream, retries included. SETTLE/S: entries a second that \
            the group was done with: handled, set aside for a retry, or given up. BACKLOG: what it still has before it or \
            in work. q quits. When the output is no terminal, every look is printed below the last.

              heliographctl top
              heliographctl top --interval 5s
              heliographctl top --interval 10s --count 360 > hour.log
            """
    )

    @OptionGroup var servers: ServerOptions
    @OptionGroup var live: LiveOptions

    mutating func run() async throws {
        let live = live
        try await servers.withServers { transport, postgres in
            let style = Console.current.style
            var view = TopView(interval: live.interval.duration)
            try await live.view(canDraw: true).run {
                do {
                    view.add(try await BusSnapshot(transport, postgres))
                } catch {
                    // The view goes on: an operator looks at it precisely while a server is away.
                    guard view.hasSnapshot, let server = Self.absentServer(error) else { throw error }
                    view.fail("\(server) does not answer; this is how it was before.")
                }
                return view
            } render: { view, size in
                view.lines(style, size: size)
            }
        }
    }

    /// The server that is away; nil when the error is another one.
    private static func absentServer(_ error: any Error) -> String? {
        switch error {
        case let error as EventBusError where error.code == .unavailable: "Redis"
        case let error as PostgresError where error.isRetryable: "The database"
        default: nil
        }
    }
}
