import NIOCore
import Synchronization

/// Collects the commands of all tasks until the event loop takes them, so that they leave in one write; limits the commands and bytes
/// that wait for replies.
final class WriteBuffer: Sendable {
    /// The requests and bytes that the event loop takes at a time.
    struct Burst {
        var bytes: ByteBuffer
        var requests: [Request]
    }

    private struct State {
        var bytes = ByteBuffer()
        var requests: [Request] = []
        var lastID: UInt64 = 0
        /// Commands and bytes that were submitted and not yet answered.
        var outstandingCommands = 0
        var outstandingBytes = 0
        /// The error for new submissions; set when the buffer is closed.
        var refusal: RedisError?
        /// Whether a call of ``WriteBuffer/take(reusing:)`` on the event loop is scheduled.
        var isScheduled = false
    }

    private let state = Mutex(State())
    private let maxCommands: Int
    private let maxBytes: Int

    init(maxCommands: Int, maxBytes: Int) {
        self.maxCommands = maxCommands
        self.maxBytes = maxBytes
    }

    /// The result of a submission.
    enum Submission {
        /// The commands will be sent. When `wakeLoop`, the caller must have the event loop call ``WriteBuffer/take(reusing:)``.
        case accepted(wakeLoop: Bool)
        /// The commands will not be sent, and the promise was not used.
        case refused(RedisError)
    }

    /// Adds commands, unless the task was cancelled, the buffer is closed or a limit would be exceeded.
    ///
    /// - Parameter ticket: Receives the id of the request.
    func submit(
        _ commands: some Collection<RedisCommand>, deadline: NIODeadline, promise: ReplyPromise, ticket: RequestTicket
    ) -> Submission {
        var byteCount = 0
        for command in commands { byteCount += command.byteCount }
        return state.withLock { state in
            // Under the lock, because a cancellation handler takes it too: either the handler comes later and finds the request, or
            // the cancellation is visible here.
            if Task.isCancelled { return .refused(RedisError(.cancelled, "the task was cancelled")) }
            if let refusal = state.refusal { return .refused(refusal) }
            guard state.outstandingCommands + commands.count <= maxCommands, state.outstandingBytes + byteCount <= maxBytes
            else {
                let waiting = "\(state.outstandingCommands) commands of \(state.outstandingBytes) bytes are waiting for replies"
                return .refused(RedisError(.queueFull, "\(waiting), which is the limit"))
            }
            state.outstandingCommands += commands.count
            state.outstandingBytes += byteCount
            state.lastID += 1
            ticket.id.store(state.lastID, ordering: .relaxed)
            state.bytes.reserveCapacity(state.bytes.writerIndex + byteCount)
            state.bytes.write(commands)
            state.requests.append(
                Request(
                    id: state.lastID, commandCount: commands.count, byteCount: byteCount, deadline: deadline, promise: promise))
            defer { state.isScheduled = true }
            return .accepted(wakeLoop: !state.isScheduled)
        }
    }

    /// Takes everything that was submitted since the last time.
    ///
    /// - Parameter memory: An empty buffer for the next commands.
    func take(reusing memory: ByteBuffer = ByteBuffer()) -> Burst {
        state.withLock { state in
            state.isScheduled = false
            defer {
                state.bytes = memory
                state.requests = []
            }
            return Burst(bytes: state.bytes, requests: state.requests)
        }
    }

    /// Frees the room of commands that were answered.
    func release(commands: Int, bytes: Int) {
        state.withLock { state in
            state.outstandingCommands -= commands
            state.outstandingBytes -= bytes
            precondition(state.outstandingCommands >= 0 && state.outstandingBytes >= 0, "more was answered than submitted")
        }
    }

    /// Whether all submissions are refused.
    var isClosed: Bool { state.withLock { $0.refusal != nil } }

    /// Refuses all further submissions with `error`; the first refusal stays.
    func close(_ error: RedisError) {
        state.withLock { $0.refusal = $0.refusal ?? error }
    }

    /// Returns the id that a ticket received; `nil` when its request was not submitted. After the task was cancelled, it will not be
    /// submitted later either.
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
