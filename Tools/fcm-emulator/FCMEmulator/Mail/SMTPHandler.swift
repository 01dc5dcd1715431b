import NIOCore
import NIOSSL

/// One connection of the mail listener: it splits the input into lines for its ``SMTPSession``, and writes the replies, or replaces them as
/// a fault rule says.
final class SMTPHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let desk: MailDesk
    private let tls: NIOSSLContext?
    private var session: SMTPSession
    private var received = ByteBuffer()
    /// Whether a reply is held back, and the lines after it wait.
    private var isHeld = false
    private var isClosing = false
    /// The most bytes that wait for a reply that is held back.
    private static let maxHeldBytes = 1_048_576

    init(_ desk: MailDesk, tls: NIOSSLContext?, isTLS: Bool) {
        self.desk = desk
        self.tls = tls
        session = SMTPSession(desk.offer(hasTLS: tls != nil), isTLS: isTLS)
    }

    func channelActive(context: ChannelHandlerContext) {
        if desk.isFull {
            close(after: .busy, context)
        } else {
            carryOut(session.greeting, context)
        }
        context.flush()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        guard received.readableBytes <= Self.maxHeldBytes else { return context.close(promise: nil) }
        pump(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A reply that is held back is no idleness of the client.
        if event is IdleStateHandler.IdleStateEvent, !isHeld {
            close(after: .idle, context)
            context.flush()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Handles the lines received, until one of them has to wait.
    private func pump(_ context: ChannelHandlerContext) {
        while !isHeld, !isClosing, let line = nextLine(context) { carryOut(session.receive(line), context) }
        if !isHeld { received.discardReadBytes() }
    }

    private func nextLine(_ context: ChannelHandlerContext) -> [UInt8]? {
        let view = received.readableBytesView
        guard let end = view.prefix(SMTPSession.maxLineBytes).firstIndex(of: 0x0A) else {
            if view.count >= SMTPSession.maxLineBytes { close(after: .lineTooLong, context) }
            return nil
        }
        guard end > view.startIndex, view[end - 1] == 0x0D else {
            close(after: .bareLineEnd, context)
            return nil
        }
        let line = Array(view[..<(end - 1)])
        received.moveReaderIndex(forwardBy: line.count + 2)
        return line
    }

    // MARK: Replies

    private func carryOut(_ outcome: SMTPSession.Outcome, _ context: ChannelHandlerContext) {
        guard let step = outcome.step, let entry = desk.fault(at: step, recipients: recipients(of: outcome)) else {
            return end(outcome, context)
        }
        let delay = min(entry.rule.latency.sample(), desk.maxDelay)
        guard delay > .zero else { return apply(entry, to: outcome, context) }
        isHeld = true
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            self.isHeld = false
            guard context.channel.isActive else { return }
            self.apply(entry, to: outcome, context)
            self.pump(context)
            context.flush()
        }
    }

    private func apply(_ entry: FaultRules.Entry, to outcome: SMTPSession.Outcome, _ context: ChannelHandlerContext) {
        guard let effect = MailFault(entry.rule.effect), let step = outcome.step else { return end(outcome, context) }
        // A mail that is taken nevertheless, so that only its answer is lost.
        if entry.rule.isDelivered, let mail = outcome.mail { desk.take(mail, on: context.channel, fault: entry.id) }
        switch effect {
        case .reply(let code):
            if !entry.rule.isDelivered { desk.log(recipients(of: outcome), code, on: context.channel, entry.id) }
            session.refuse(step)
            write(.fault(code), context)
            if code == 421 || step == .connection { close(context) }
        case .drop:
            // The replies to the commands before it have been given.
            context.flush()
            context.close(promise: nil)
        case .hang:
            isHeld = true
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(desk.maxDelay)) { context.close(promise: nil) }
        }
    }

    /// The recipients that a step is about.
    private func recipients(of outcome: SMTPSession.Outcome) -> [String] {
        outcome.mail?.recipients ?? (outcome.step == .recipient ? session.recipients.suffix(1) : [])
    }

    private func end(_ outcome: SMTPSession.Outcome, _ context: ChannelHandlerContext) {
        if let mail = outcome.mail { desk.take(mail, on: context.channel) }
        if let reply = outcome.reply { write(reply, context) }
        switch outcome.next {
        case .goOn: break
        case .close: close(context)
        case .startTLS: startTLS(context)
        }
    }

    private func startTLS(_ context: ChannelHandlerContext) {
        guard let tls else { return }
        // Bytes that were sent in the clear after the command are not part of the encrypted session (RFC 3207 § 4.2).
        received.clear()
        context.flush()
        do {
            try context.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls), position: .first)
            session.tlsStarted()
        } catch {
            context.close(promise: nil)
        }
    }

    private func write(_ reply: SMTPReply, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(ByteBuffer(string: reply.text)), promise: nil)
    }

    private func close(after reply: SMTPReply, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        write(reply, context)
        close(context)
    }

    private func close(_ context: ChannelHandlerContext) {
        isClosing = true
        context.flush()
        context.close(promise: nil)
    }
}
