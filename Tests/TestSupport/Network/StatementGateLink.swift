import NIOCore

/// A client's connection together with the one to the server.
final class StatementGateLink {
    private unowned let hub: StatementGateHub
    private let client: any Channel
    private var server: (any Channel)?
    private var isClosed = false
    private(set) lazy var requests = StatementGateLeg(startsWithType: false) { [unowned self] in
        read($0)
    } ended: { [unowned self] in
        close()
    }
    private(set) lazy var replies = StatementGateLeg(startsWithType: true) { [unowned self] in
        answer($0)
    } ended: { [unowned self] in
        close()
    }
    private var statements: [String: String] = [:]
    /// What the client has sent from the statement on that waits; nil while none waits.
    private var held: [ByteBuffer]?
    /// The statements that were passed on and the answers to them, since the last time that the server had nothing to do.
    private var (sent, answered) = (0, 0)
    private var sentAtSyncs: [Int] = []

    init(hub: StatementGateHub, client: any Channel) {
        self.hub = hub
        self.client = client
    }

    func connected(to server: any Channel) {
        self.server = server
        guard !isClosed else { return close() }
        for channel in [client, server] { _ = channel.setOption(.autoRead, value: true) }
    }

    func close() {
        isClosed = true
        client.close(promise: nil)
        server?.close(promise: nil)
        hub.remove(self)
    }

    /// Passes a message of the client on, or keeps it.
    private func read(_ message: ByteBuffer) {
        if held != nil {
            held?.append(message)
            return
        }
        if let sql = bound(by: message), hub.plan?.stops(before: sql) == true {
            held = [message]
            // Has the server answer what it was sent, although the client has not asked for that yet.
            server?.writeAndFlush(ByteBuffer(bytes: [0x48, 0, 0, 0, 4]), promise: nil)
            return signalIfSettled()
        }
        pass(message)
    }

    private func pass(_ message: ByteBuffer) {
        switch message.type {
        case "E": sent += 1
        case "S": sentAtSyncs.append(sent)
        default: break
        }
        server?.writeAndFlush(message, promise: nil)
    }

    /// Passes a message of the server on.
    private func answer(_ message: ByteBuffer) {
        client.writeAndFlush(message, promise: nil)
        switch message.type {
        case "C", "I", "s": answered += 1
        case "E":
            // The transaction has failed before its stop: it is over.
            if held != nil { open() }
        case "Z": if !sentAtSyncs.isEmpty { answered = sentAtSyncs.removeFirst() }
        default: break
        }
        signalIfSettled()
    }

    private func signalIfSettled() {
        guard held != nil, answered >= sent else { return }
        hub.plan?.signal.yield(true)
    }

    /// Passes on what was kept.
    func open() {
        guard let messages = held else { return }
        held = nil
        for message in messages { pass(message) }
    }

    /// Returns the text of the statement that a message is about to run, if it is one.
    private func bound(by message: ByteBuffer) -> String? {
        var body = message
        body.moveReaderIndex(forwardBy: 5)
        switch message.type {
        case "P":
            guard let name = body.readNullTerminatedString(), let sql = body.readNullTerminatedString() else { return nil }
            statements[name] = sql
            return nil
        case "B":
            guard body.readNullTerminatedString() != nil, let name = body.readNullTerminatedString() else { return nil }
            return statements[name]
        default: return nil
        }
    }
}

extension ByteBuffer {
    /// The type of a message, as the documentation of the protocol names it.
    fileprivate var type: Character? { getInteger(at: readerIndex, as: UInt8.self).map { Character(UnicodeScalar($0)) } }
}
