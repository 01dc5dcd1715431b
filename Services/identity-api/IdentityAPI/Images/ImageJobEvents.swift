internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import Logging
internal import NIOCore
internal import Pictures
internal import PostgresClient
internal import WireFormat

/// Answers `GET /v1/images/jobs/{id}/events`: the progress of a job as server-sent events, until it has ended.
///
/// Every event has the whole state, so that a client that reconnects has missed nothing: the first event is the current state, unless
/// the client already has that (`Last-Event-ID`).
struct ImageJobEvents: Sendable {
    /// The time after which a client reconnects, in milliseconds.
    private static let retryMilliseconds = 2_000

    let controller: ImageJobController
    let postgres: PostgresClient
    let jobs: RowWatcher<ImageJob>
    /// Limits the number of streams, in all and of one address: each holds a connection for minutes.
    let slots: UploadSlots

    func stream(_ call: APICall<WatchedUser, (UUID, String?), EmptyBody>) async throws -> Response {
        let ((id, known), signIn, context) = (call.target, call.sender.signIn, call.context)
        let job = try await controller.find(id, of: call.sender.identity.userID)
        if job.status.isTerminal, known == ImageJobState(job, position: nil).id {
            // The client has the final state; a 204 makes a browser stop reconnecting.
            return Response(status: .noContent)
        }
        let slot = try slots.take(for: context)
        let subscription = try jobs.follow(job.id, for: .account(job.userID), whenClientHangsUp: context.whenClientHangsUp)
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "retry: \(Self.retryMilliseconds)\n\n"))
            var states = ImageJobStates(subscription, known: known, signIn: signIn, postgres: postgres)
            while let text = try await states.next() { try await writer.write(ByteBuffer(string: text)) }
            try await writer.finish(nil)
            withExtendedLifetime(slot) {}
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"], body: body)
    }
}

/// The events for one client that follows a job.
struct ImageJobStates {
    /// The time without an event after which a comment is sent: proxies close connections that are silent for longer.
    private static let heartbeat = Duration.seconds(15)
    /// The minimum interval between two look-ups of a waiting job's place in the queue.
    private static let queueLook = Duration.seconds(2)

    private let subscription: RowSubscription<ImageJob>
    private let signIn: SignInWatch
    private let postgres: PostgresClient
    private var rows: AsyncStream<ImageJob?>.Iterator
    /// The id of the event that the client has.
    private var known: String?
    private var sentAt = ContinuousClock.now
    /// When the sign-in was looked up.
    private var checkedAt = ContinuousClock.now
    private var lookedAt: ContinuousClock.Instant?
    private var position: Int?
    private var isOver = false

    init(_ subscription: RowSubscription<ImageJob>, known: String?, signIn: SignInWatch, postgres: PostgresClient) {
        self.subscription = subscription
        self.signIn = signIn
        self.known = known
        self.postgres = postgres
        rows = subscription.rows.makeAsyncIterator()
    }

    /// Returns the next event, or a comment after a long time without one; nil when the job or the sign-in has ended, or the job does not
    /// exist any more.
    mutating func next() async throws -> String? {
        while !isOver, let row = await rows.next(isolation: #isolation), let job = row {
            if .now - checkedAt >= SignInWatch.interval {
                guard try await signIn.holds() else { return nil }
                checkedAt = .now
            }
            try await look(job)
            isOver = job.status.isTerminal
            let state = ImageJobState(job, position: position)
            if state.id != known {
                (known, sentAt) = (state.id, .now)
                return state.event
            }
            if .now - sentAt >= Self.heartbeat {
                sentAt = .now
                return ": still here\n\n"
            }
        }
        return nil
    }

    private mutating func look(_ job: ImageJob) async throws {
        guard job.status == .pending else { return position = nil }
        if let lookedAt, .now - lookedAt < Self.queueLook { return }
        position = try await ImageJobRepository(postgres).queuePosition(id: job.id)
        lookedAt = .now
    }
}

/// The state of a job as one event.
struct ImageJobState {
    let id: String
    let event: String

    init(_ job: ImageJob, position: Int?) {
        let status = job.status.rawValue
        // Another call of the generator is a new state, even if the percentage is the same.
        let attempt = job.attempts > 1 ? "-a\(job.attempts)" : ""
        id = "\(status)-\(position.map { "q\($0)" } ?? "\(job.percent)")\(attempt)"
        let data = JSONValue.members(
            ("job_id", .string(job.id.wireString)), ("status", .string(status)),
            ("queue_position", position.map(JSONValue.integer) ?? .null), ("percent", .integer(job.percent)),
            ("attempts", .integer(job.attempts)))
        event = "id: \(id)\nevent: state\ndata: \(data.text)\n\n"
    }
}
