import TestSupport

/// The server's side of a connection, scripted frame by frame, for behaviour that real servers do not show on demand.
struct FramePeer {
    /// A frame received from the client.
    struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: UInt8
        let payload: [UInt8]
    }

    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
    }

    private static let prefaceByteCount = 24

    private var connection: ScriptedServer.Connection
    private var bytes: [UInt8] = []
    /// The frames that came while another one was awaited, in order: later reads begin with them, so that no frame is lost because it
    /// came early.
    private var early: [Frame] = []

    /// Reads the client's preface and sends the server's settings.
    init(_ connection: ScriptedServer.Connection, settings: [(UInt8, UInt32)] = []) async throws {
        self.connection = connection
        _ = try await take(Self.prefaceByteCount)
        try await set(settings)
    }

    /// Sends settings: pairs of a number and a value.
    func set(_ settings: [(UInt8, UInt32)]) async throws {
        try await send(Kind.settings, payload: settings.flatMap { number, value in [0, number] + Self.bytes(of: value) })
    }

    /// Listens, and serves each connection by a script of frames.
    static func server(
        settings: [(UInt8, UInt32)] = [], _ script: @escaping @Sendable (inout FramePeer) async throws -> Void
    ) async throws -> ScriptedServer {
        try await ScriptedServer { connection in
            var peer = try await FramePeer(connection, settings: settings)
            try await script(&peer)
        }
    }

    private mutating func take(_ count: Int) async throws -> [UInt8] {
        while bytes.count < count { bytes += try await connection.read() }
        defer { bytes.removeFirst(count) }
        return Array(bytes[..<count])
    }

    /// Reads the next frame.
    mutating func read() async throws -> Frame { try await read { _ in true } }

    /// Reads the next frame of a kind; frames of other kinds stay for later reads.
    @discardableResult mutating func read(_ kind: UInt8) async throws -> Frame { try await read { $0.type == kind } }

    /// Reads the next frame that meets a condition; the others stay for later reads.
    mutating func read(where isWanted: (Frame) -> Bool) async throws -> Frame {
        if let index = early.firstIndex(where: isWanted) { return early.remove(at: index) }
        while true {
            let head = try await take(9)
            let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let frame = Frame(type: head[3], flags: head[4], stream: head[8], payload: try await take(count))
            if isWanted(frame) { return frame }
            early.append(frame)
        }
    }

    /// Reads a whole request and returns its stream id.
    mutating func readRequest() async throws -> UInt8 {
        let end = try await read { $0.type <= Kind.headers && $0.flags & 1 != 0 }
        early.removeAll { $0.type <= Kind.headers && $0.stream == end.stream }
        return end.stream
    }

    /// Waits until the client closes.
    mutating func waitForClose() async throws {
        while true { _ = try await read() }
    }

    func send(_ kind: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, payload: [UInt8] = []) async throws {
        let size = Self.bytes(of: UInt32(payload.count)).dropFirst()
        try await connection.write(size + [kind, flags, 0, 0, 0, stream] + payload)
    }

    /// Responds on a stream with a status and no body.
    func answer(_ stream: UInt8, status: String = "200") async throws {
        // End of stream and of headers; a literal field whose name is the static table's eighth, :status.
        try await send(Kind.headers, flags: 0x05, stream: stream, payload: [0x08, UInt8(status.utf8.count)] + Array(status.utf8))
    }

    /// Ends a stream with an error.
    func reset(_ stream: UInt8, code: UInt8) async throws {
        try await send(Kind.reset, stream: stream, payload: [0, 0, 0, code])
    }

    /// Sends GOAWAY with the last stream that is served.
    func goAway(last: UInt8) async throws {
        try await send(Kind.goAway, payload: [0, 0, 0, last, 0, 0, 0, 0])
    }

    private static func bytes(of number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

extension ScriptedServer {
    /// Scheme, host and port.
    var origin: String { "http://127.0.0.1:\(port)" }
}
