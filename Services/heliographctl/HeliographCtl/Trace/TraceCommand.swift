internal import ArgumentParser
internal import FoundationEssentials
internal import Storage

/// Tells what became of an HTTP request.
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Follow a request: HTTP, events, who handled them, notification, deliveries.",
        discussion: """
            The id is the X-Request-ID of the answer, which is also request_id in every log line. +MS is the time since the \
            line before, TOTAL since the first. What is still open stands at the end, and since when.

              heliographctl trace 0b0e1a52-6a3c-4c8f-9a57-2f5be0c3d6aa
              heliographctl trace 0b0e1a52-6a3c-4c8f-9a57-2f5be0c3d6aa --json | jq '.steps[] | select(.state == "open")'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Argument(help: "The X-Request-ID of the answer.")
    var requestID: String

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    mutating func run() async throws {
        let (requestID, json) = (requestID, json)
        try await database.withDatabase(queryTimeout: ServerOptions.queryTimeout) { postgres in
            let trace = try await MessageTraceRepository(postgres).trace(requestID: requestID)
            let console = Console.current
            guard !trace.messages.isEmpty else {
                console.note(
                    "Nothing is known of request \(requestID.printable). Check that it is the X-Request-ID of the answer, and of "
                        + "this installation; what was refused, or ended more than a day ago, has left nothing here.")
                throw ExitCode.nothingFound
            }
            let line = TimeLine(trace, requestID: requestID, now: Date())
            let lines = json ? [try JSON.text(line)] : line.lines(console.style)
            lines.forEach(console.result)
        }
    }
}
