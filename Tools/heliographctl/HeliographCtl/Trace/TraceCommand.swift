internal import ArgumentParser
internal import CommandLineSupport
internal import FoundationEssentials
internal import PostgresClient
internal import Push

/// Shows the steps of an HTTP request through the system.
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Follow a request: HTTP, events and their handling, notification, deliveries.",
        discussion: """
            The id is the X-Request-ID of the response, which is also request_id in every log line; or that of an image job, a session, \
            a message or a notification, which stands for the request that made it. The steps of a request are kept for a day after its \
            end, jobs and sessions as well, notifications for 30 days. +MS is the time since the line before, TOTAL since \
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
            let things = try await PushInquiryRepository(postgres).tracedThings(of: id)
            let requests = Set(things.compactMap(\.requestID)).sorted()
            let console = Console.current
            guard requests.count <= 1 else {
                console.note("Several requests made what is called \(id). Trace one of them: \(requests.joined(separator: ", "))")
                throw ExitCode.nothingFound
            }
            // An id that matches nothing else is a request's id.
            let requestID = requests.first ?? (things.isEmpty ? id : nil)
            let trace = try await RequestTrace(requestID: requestID, things: things, in: postgres)
            guard !trace.isEmpty else {
                console.note(
                    "No request, image job, session, message or notification is \(id). Refused requests leave no records, and those that "
                        + "ended more than a day ago none by their X-Request-ID: what they made is found by its own id, a message by its "
                        + "push. `heliographctl push why \(id)` says more of a message without one.")
                throw ExitCode.nothingFound
            }
            try console.show(TimeLine(trace, requestID: requestID, now: Date()), asJSON: json)
        }
    }
}
