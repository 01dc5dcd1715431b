import NIOCore
import Synchronization

/// Where tasks leave their commands for the event loop, which takes them all in one go: whatever was submitted in the
/// meantime leaves in one write.
final class Outbox: Sendable {
    /// What the event loop takes.
    struct Burst {
        var bytes: ByteBuffer
        var requests: [Request]
    }

    private struct State {
        var bytes = ByteBuffer()
        var requests: [Request] = []
        var lastID: UInt64 = 0
        /// Commands and bytes that were submitted and are not answered.
        var outstandingCommands = 0
        var outstandingBytes = 0
        /// Set when nothing may be submitted any more.
        var refusal: RedisError?
        /// Whether the event loop has been asked to come.
        var isScheduled = false
    }

    private let state = Mutex(State())
    private let maxCommands: Int
    private let maxBytes: Int

    init(maxCommands: Int, maxBytes: Int) {
        self.maxCommands = maxCommands
        self.maxBytes = maxBytes
    }

    /// What became of a submission.
    enum Submission {
        /// It will be sent. When `wakeLoop`, the caller must make the event loop come and ``Outbox/take()``.
        case accepted(wakeLoop: Bool)
        /// It was not taken, and its promise was not touched.
        case refused(RedisError)
    }

    /// Adds a submission, unless the task was cancelled, the connection takes no more or a limit would be passed.
    ///
    /// - Parameter ticket: Gets the id of the request.
    func submit(
        _ commands: some Collection<RedisCommand>, deadline: NIODeadline, promise: ReplyPromise, ticket: RequestTicket
    ) -> Submission {
        var byteCount = 0
        for command in commands { byteCount += command.encoded.count }
        return state.withLock { state in
            // Under the lock, because a cancellation handler takes it too: either it comes later and finds the request, or the
            // cancellation is seen here.
            if Task.isCancelled { return .refused(RedisError(.cancelled, "the task was cancelled")) }
            if let refusal = state.refusal { return .refused(refusal) }
            guard state.outstandingCommands + commands.count <= maxCommands, state.outstandingBytes + byteCount <= maxBytes
            else {
                let waiting = "\(state.outstandingCommands) commands of \(state.outstandingBytes) bytes wait for replies"
                return .refused(RedisError(.queueFull, "\(waiting), which is the limit"))
            }
            state.outstandingCommands += commands.count
            state.outstandingBytes += byteCount
            state.lastID += 1
            ticket.id.store(state.lastID, ordering: .relaxed)
            state.bytes.reserveCapacity(state.bytes.writerIndex + byteCount)
            for command in commands { state.bytes.writeBytes(command.encoded) }
            state.requests.append(
                Request(
                    id: state.lastID, commandCount: commands.count, byteCount: byteCount, deadline: deadline, promise: promise))
            defer { state.isScheduled = true }
            return .accepted(wakeLoop: !state.isScheduled)
        }
    }

    /// Takes everything that was submitted since the last time.
    func take() -> Burst {
        state.withLock { state in
            state.isScheduled = false
            defer {
                state.bytes = ByteBuffer()
                state.requests = []
            }
            return Burst(bytes: state.bytes, requests: state.requests)
        }
    }

    /// Notes that replies came, so that others may be submitted.
    func release(commands: Int, bytes: Int) {
        state.withLock { state in
            state.outstandingCommands -= commands
            state.outstandingBytes -= bytes
        }
    }

    /// Whether all submissions are refused.
    var isClosed: Bool { state.withLock { $0.refusal != nil } }

    /// Refuses all further submissions with `error`; the first refusal stays.
    func close(_ error: RedisError) {
        state.withLock { $0.refusal = $0.refusal ?? error }
    }

    /// The id that a ticket got; `nil` when its request was not submitted, and then it will not be, if its task is cancelled.
    func id(of ticket: RequestTicket) -> UInt64? {
        let id = state.withLock { _ in ticket.id.load(ordering: .relaxed) }
        return id == 0 ? nil : id
    }
}

/// Carries the id of a request from the task that submits it to that task's cancellation handler.
final class RequestTicket: Sendable {
    /// 0 until the request is submitted.
    let id = Atomic<UInt64>(0)
}
