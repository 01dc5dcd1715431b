import NIOCore

/// The thread-safe side of a connection: takes commands from tasks and hands them to the handler on the event loop.
final class ConnectionCore: Sendable {
    let channel: any Channel
    private let handler: NIOLoopBound<RedisChannelHandler>
    private let outbox: Outbox
    private let commandTimeout: Duration

    /// - Parameter handler: Must be in the channel's pipeline; call this on its event loop.
    init(channel: any Channel, handler: RedisChannelHandler, outbox: Outbox, commandTimeout: Duration) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.outbox = outbox
        self.commandTimeout = commandTimeout
    }

    /// Whether no more commands are taken.
    var isRetired: Bool { outbox.isClosed }

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

    /// Takes no more commands and ends the connection when the last reply has come.
    func drain() {
        outbox.close(RedisError(.shutDown, "the connection was shut down"))
        onLoop { $0.drain() }
    }

    /// Ends the connection at once; what waits fails with `reason`.
    func close(_ reason: RedisError) {
        onLoop { $0.close(reason) }
    }

    private func submit(
        _ commands: some Collection<RedisCommand>, deadline: NIODeadline, promise: ReplyPromise, ticket: RequestTicket
    ) {
        switch outbox.submit(commands, deadline: deadline, promise: promise, ticket: ticket) {
        case .accepted(let wakeLoop):
            if wakeLoop { onLoop { $0.flush() } }
        case .refused(let error):
            promise.fail(error)
        }
    }

    private func cancel(_ ticket: RequestTicket) {
        guard let id = outbox.id(of: ticket) else { return }
        onLoop { $0.cancel(id: id) }
    }

    /// Later, never at once, even on the loop: what other tasks submit until then leaves in the same write.
    private func onLoop(_ body: @escaping @Sendable (RedisChannelHandler) -> Void) {
        channel.eventLoop.execute { [handler] in body(handler.value) }
    }
}

extension RedisReply {
    /// This reply, unless it is an error of the server, which is thrown.
    func checked() throws(RedisError) -> RedisReply {
        if let error { throw error }
        return self
    }
}
