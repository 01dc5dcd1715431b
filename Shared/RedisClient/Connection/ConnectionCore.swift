import NIOCore

/// The thread-safe part of a connection: takes commands from tasks and passes them to the handler on the event loop.
final class ConnectionCore: Sendable {
    let channel: any Channel
    private let handler: NIOLoopBound<RedisChannelHandler>
    private let writeBuffer: WriteBuffer
    private let commandTimeout: Duration

    /// - Parameter handler: Must be in the channel's pipeline; call this on its event loop.
    init(channel: any Channel, handler: RedisChannelHandler, writeBuffer: WriteBuffer, commandTimeout: Duration) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.writeBuffer = writeBuffer
        self.commandTimeout = commandTimeout
    }

    /// Whether the connection refuses new commands.
    var isRetired: Bool { writeBuffer.isClosed }

    func deadline(after timeout: Duration?) -> NIODeadline {
        .now() + TimeAmount(timeout ?? commandTimeout)
    }

    /// Sends a command and returns its reply, which may be an error of the server.
    func send(_ command: RedisCommand, deadline: NIODeadline) async throws(RedisError) -> RedisReply {
        let ticket = RequestTicket()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(CollectionOfOne(command), deadline: deadline, promise: .single(continuation), ticket: ticket)
            }
        } onCancel: {
            cancel(ticket)
        }.get()
    }

    /// Sends commands in one write and returns their replies, which may be errors of the server.
    func pipeline(_ commands: [RedisCommand], deadline: NIODeadline) async throws(RedisError) -> [RedisReply] {
        guard !commands.isEmpty else { return [] }
        let ticket = RequestTicket()
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(commands, deadline: deadline, promise: .pipeline(continuation), ticket: ticket)
            }
        } onCancel: {
            cancel(ticket)
        }.get()
    }

    /// Refuses new commands and closes the connection when the last reply has arrived.
    func drain() {
        writeBuffer.close(RedisError(.shutDown, "the connection was shut down"))
        onLoop { $0.drain() }
    }

    /// Closes the connection at once; waiting commands fail with `reason`.
    func close(_ reason: RedisError) {
        onLoop { $0.close(reason) }
    }

    private func submit(
        _ commands: some Collection<RedisCommand>, deadline: NIODeadline, promise: ReplyPromise, ticket: RequestTicket
    ) {
        switch writeBuffer.submit(commands, deadline: deadline, promise: promise, ticket: ticket) {
        case .accepted(let wakeLoop):
            if wakeLoop { onLoop { $0.flush() } }
        case .refused(let error):
            promise.fail(error)
        }
    }

    private func cancel(_ ticket: RequestTicket) {
        guard let id = writeBuffer.id(of: ticket) else { return }
        onLoop { $0.cancel(id: id) }
    }

    /// Runs `body` on the event loop, later even when the caller is on the loop: commands that other tasks submit until then leave in
    /// the same write.
    private func onLoop(_ body: @escaping @Sendable (RedisChannelHandler) -> Void) {
        channel.eventLoop.execute { [handler] in body(handler.value) }
    }
}

extension RedisReply {
    /// Returns this reply; throws it when it is an error of the server.
    func checked() throws(RedisError) -> RedisReply {
        if let error { throw error }
        return self
    }
}
