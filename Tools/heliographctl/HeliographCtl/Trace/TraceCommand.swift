internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Storage

/// Shows the steps of an HTTP request through the system.
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Follow a request: HTTP, events and their handling, notification, deliveries.",
        discussion: """
            The id is the X-Request-ID of the response, which is also request_id in every log line; or that of an image job, a session, \
            a message or a notification, which stands for the request that made it. +MS is the time since the line before, TOTAL since \
            the first. Open steps are at the end, with the time since which they are open.

              heliographctl trace 0b0e1a52-6a3c-4c8f-9a57-2f5be0c3d6aa
              heliographctl trace 0b0e1a52-6a3c-4c8f-9a57-2f5be0c3d6aa --json | jq '.steps[] | select(.state == "open")'
            """
    )

    @OptionGroup var database: DatabaseOptions

    @Argument(help: "The X-Request-ID of a response, or the id of an image job, a session, a message or a notification.")
    var id: String

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() async throws {
        try await database.withDatabase { postgres in
            let requestID = try await requestID(in: postgres)
            let trace = try await RequestTrace(requestID: requestID, in: postgres)
            let console = Console.current
            guard !trace.messages.isEmpty else {
                console.note(
                    "Request \(requestID.printable) is unknown. Check that it is the X-Request-ID of a response of this "
                        + "installation; refused requests, and those that ended more than a day ago, leave no records.")
                throw ExitCode.nothingFound
            }
            try console.show(TimeLine(trace, requestID: requestID, now: Date()), asJSON: json)
        }
    }

    /// Returns the request that made what has the id; the id itself when nothing has it.
    private func requestID(in postgres: PostgresClient) async throws -> String {
        let requests = try await PushInquiryRepository(postgres).requestIDs(of: id)
        guard requests.count > 1 else { return requests.first ?? id }
        Console.current.note(
            "Messages of several conversations are \(id). Trace one of their requests: \(requests.joined(separator: ", "))")
        throw ExitCode.nothingFound
    }
}
