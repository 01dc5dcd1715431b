import NIOCore

/// Drives a connection on its event loop: writes commands, matches replies to promises, and enforces deadlines.
final class RedisChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The reaction of a connection to commands that take too long.
    struct Policy: Sendable {
        /// Whether a missed deadline or a cancellation closes the connection: right for a blocking read, which would otherwise go on
        /// and take entries that no task receives; wrong for a shared connection.
        var closesOnAbandonment: Bool
        /// The time without a byte from the server after which the connection counts as dead, while commands wait; `nil` for blocking
        /// reads, during which the server is silent.
        var stallLimit: TimeAmount?
    }

    private let writeBuffer: WriteBuffer
    private let policy: Policy
    private let decoder: RESPDecoder
    /// Called once when no more commands should be sent here: the connection ended, or its server refuses writes.
    private let onRetire: @Sendable (RedisError) -> Void
    private var queue = ReplyQueue<ReplyPromise>()
    private var context: ChannelHandlerContext?
    private var received: [RedisReply] = []
    private var memory = BurstMemory()
    private var timer: (due: NIODeadline, task: Scheduled<Void>)?
    /// Why the connection ends; set before the channel is inactive when this side closes it.
    private var closeReason: RedisError?
    private var isDraining = false
    private var isRetired = false

    init(writeBuffer: WriteBuffer, limits: RESPLimits, policy: Policy, onRetire: @escaping @Sendable (RedisError) -> Void) {
        self.writeBuffer = writeBuffer
        self.policy = policy
        self.decoder = RESPDecoder(limits: limits)
        self.onRetire = onRetire
    }

    // MARK: From the connection

    /// Writes the submitted commands.
    func flush() {
        let burst = writeBuffer.take(reusing: memory.take())
        guard !burst.requests.isEmpty else { return }
        guard let context, closeReason == nil else {
            for request in burst.requests { request.promise?.fail(closeReason ?? Self.ended) }
            return
        }
        let now = NIODeadline.now()
        var earliest = burst.requests[0].deadline
        for request in burst.requests {
            earliest = min(earliest, request.deadline)
            queue.append(request, now: now)
        }
        context.writeAndFlush(wrapOutboundOut(burst.bytes), promise: nil)
        memory.keep(burst.bytes)
        if let limit = policy.stallLimit { earliest = min(earliest, now + limit) }
        schedule(at: earliest)
    }

    /// Fails the request of a cancelled task; its replies will be dropped.
    func cancel(id: UInt64) {
        flush()
        guard let promise = queue.abandon(id: id) else { return }
        promise.fail(RedisError(.cancelled, "the task was cancelled while it waited for the reply", mayHaveExecuted: true))
        if policy.closesOnAbandonment { close(RedisError(.cancelled, "a blocking command was cancelled", mayHaveExecuted: true)) }
    }

    /// Closes the connection when the last reply has arrived.
    func drain() {
        flush()
        isDraining = true
        if queue.isEmpty { close(RedisError(.shutDown, "the connection was shut down")) }
    }

    /// Closes the connection now; waiting commands fail with `reason`.
    func close(_ reason: RedisError) {
        guard closeReason == nil else { return }
        closeReason = reason
        failAll()
        context?.close(promise: nil)
    }

    // MARK: From the channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if closeReason == nil { closeReason = Self.ended }
        failAll()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard closeReason == nil else { return }
        let buffer = unwrapInboundIn(data)
        queue.receivedBytes(now: .now())
        var failure: RedisError?
        do throws(RedisError) {
            try decode(buffer)
        } catch {
            failure = error
        }
        deliver(&failure)
        if let failure {
            close(failure)
        } else if isDraining, queue.isEmpty {
            close(RedisError(.shutDown, "the connection was shut down"))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        close(Self.ended)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(RedisError(.connectionLost, "the connection failed", underlying: error))
    }

    private static let ended = RedisError(.connectionLost, "the server closed the connection")

    // MARK: Replies

    private func decode(_ buffer: ByteBuffer) throws(RedisError) {
        var failure: RedisError?
        buffer.withUnsafeReadableBytes { bytes in
            do throws(RedisError) {
                try decoder.decode(bytes, into: &received)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func deliver(_ failure: inout RedisError?) {
        var answered: [Request] = []
        var commands = 0
        var bytes = 0
        for reply in received {
            switch queue.receive(reply) {
            case .incomplete:
                break
            case .complete(let request):
                commands += request.commandCount
                bytes += request.byteCount
                answered.append(request)
            case .unsolicited:
                failure = RedisError(.protocolViolation, "the server sent a reply without a command")
            }
            if reply.kind == .error { considerRetiring(after: reply) }
        }
        received.removeAll(keepingCapacity: true)
        // Free the room before resuming the tasks: a task that sends as many commands again at once must not find the queue full.
        if commands > 0 { writeBuffer.release(commands: commands, bytes: bytes) }
        for request in answered { request.promise?.succeed(request.replies) }
    }

    private func considerRetiring(after reply: RedisReply) {
        guard let error = reply.error, case .server(let code) = error.code else { return }
        // When its stream has moved, a blocking reader needs a connection to the other server; a shared connection serves other streams as
        // well.
        guard code.asksForReconnect || (policy.closesOnAbandonment && code.isRedirection) else { return }
        retire(error)
        drain()
    }

    private func retire(_ error: RedisError) {
        guard !isRetired else { return }
        isRetired = true
        writeBuffer.close(error.with(mayHaveExecuted: false).asRefusal())
        onRetire(error)
    }

    private func failAll() {
        guard let reason = closeReason else { return }
        retire(reason)
        timer?.task.cancel()
        timer = nil
        // New submissions are refused from here on, so this is the last burst; it was never written.
        for request in writeBuffer.take().requests { request.promise?.fail(reason.with(mayHaveExecuted: false)) }
        for request in queue.removeAll() { request.promise?.fail(reason.with(mayHaveExecuted: true)) }
    }

    // MARK: Deadlines

    private func schedule(at due: NIODeadline) {
        if let timer {
            if timer.due <= due { return }
            timer.task.cancel()
        }
        guard let context else { return }
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.timerFired() }
        timer = (due, task)
    }

    private func timerFired() {
        timer = nil
        let now = NIODeadline.now()
        let overdue = queue.abandonOverdue(now: now)
        for promise in overdue {
            promise.fail(RedisError(.timeout, "no reply within the time limit", mayHaveExecuted: true))
        }
        if policy.closesOnAbandonment, !overdue.isEmpty {
            close(RedisError(.timeout, "the server did not answer within the time limit"))
        } else if let limit = policy.stallLimit, queue.isStalled(now: now, limit: limit) {
            close(RedisError(.connectionLost, "the server was silent for \(limit.nanoseconds / 1_000_000) ms"))
        } else if let next = queue.nextCheck(stallLimit: policy.stallLimit) {
            schedule(at: next)
        }
    }
}

extension RedisError {
    /// The error for commands that are submitted after the connection ended: they may be sent on another one.
    fileprivate func asRefusal() -> RedisError {
        code == .shutDown ? self : RedisError(.connectionLost, "the connection has ended", underlying: self)
    }
}
