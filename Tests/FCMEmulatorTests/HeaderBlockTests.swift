import NIOCore
import NIOHPACK
import NIOPosix
import TestSupport
import Testing

@testable import FCMEmulator

@Suite struct HeaderBlockTests {
    private static let head = [(":method", "POST"), (":scheme", "https"), (":path", "/x"), (":authority", "localhost")]

    private func headers(_ fields: [(String, String)]) -> HPACKHeaders { HPACKHeaders(fields) }

    @Test(arguments: [
        [], [("content-type", "application/json; charset=UTF-8"), ("te", "trailers")], [("!#$%&'*+-.^_`|~09az", "any \t value é")],
        [("x", "")],
    ])
    func `a request with well-formed fields is accepted`(fields: [(String, String)]) {
        #expect(HeaderBlock.isRequest(headers(Self.head + fields)))
        #expect(HeaderBlock.isTrailer(headers(fields)))
    }

    @Test(arguments: [
        ("Content-Type", "x"), ("a b", "x"), ("a:b", "x"), ("é", "x"), ("", "x"), ("a\u{7F}", "x"), ("a\u{0}", "x"),
        ("x", "a\r\nb"), ("x", "\u{0}"), ("x", "a\n"), ("connection", "close"), ("keep-alive", "1"), ("proxy-connection", "x"),
        ("transfer-encoding", "chunked"), ("upgrade", "h2c"), (":status", "200"), (":unknown", "x"),
    ])
    func `a malformed field is refused in a request and in trailers`(name: String, value: String) {
        #expect(!HeaderBlock.isRequest(headers(Self.head + [("a", "b"), (name, value)])))
        #expect(!HeaderBlock.isTrailer(headers([(name, value)])))
    }

    @Test func `TE names nothing but trailers`() {
        #expect(!HeaderBlock.isRequest(headers(Self.head + [("te", "gzip")])))
    }

    @Test(arguments: 0..<3)
    func `a request needs its method, its scheme and its path`(missing: Int) {
        var fields = Self.head
        fields.remove(at: missing)
        #expect(!HeaderBlock.isRequest(headers(fields)))
    }

    @Test func `a request needs no authority`() { #expect(HeaderBlock.isRequest(headers(Array(Self.head.dropLast())))) }

    @Test(arguments: [(":path", ""), (":path", "/a b"), (":authority", "a\u{7F}"), (":scheme", "ht\ttp")])
    func `a malformed pseudo-field is refused`(name: String, value: String) {
        #expect(!HeaderBlock.isRequest(headers(Self.head.map { $0.0 == name ? (name, value) : $0 })))
    }

    @Test func `no pseudo-field comes after a regular one`() {
        #expect(!HeaderBlock.isRequest(headers(Self.head.dropLast() + [("a", "b"), (":authority", "localhost")])))
    }

    @Test func `no pseudo-field comes twice`() { #expect(!HeaderBlock.isRequest(headers(Self.head + [(":path", "/x")]))) }

    @Test func `CONNECT has a method and an authority`() {
        #expect(HeaderBlock.isRequest(headers([(":method", "CONNECT"), (":authority", "localhost:1")])))
        #expect(!HeaderBlock.isRequest(headers([(":method", "CONNECT"), (":authority", "a"), (":path", "/"), (":scheme", "https")])))
    }

    // MARK: On a connection

    @Test(.emulator) func `a malformed request resets its stream, and the next is served on the same connection`() async throws {
        let frames = try await exchange(
            headers(1, Self.head + [("Upper", "x")], endsStream: true) + headers(3, Self.head, endsStream: true))
        #expect(frames.filter { $0.type == .reset }.map(\.stream) == [1])
        #expect(frames.first { $0.type == .reset }?.payload == [0, 0, 0, 1], "PROTOCOL_ERROR")
        #expect(frames.filter { $0.type == .headers }.map(\.stream) == [3])
    }

    @Test(.emulator) func `well-formed trailers end a request, malformed ones reset its stream`() async throws {
        let frames = try await exchange(
            headers(1, Self.head) + headers(1, [("x-checksum", "1")], endsStream: true)
                + headers(3, Self.head) + headers(3, [("Upper", "x")], endsStream: true))
        #expect(frames.filter { $0.type == .headers }.map(\.stream) == [1])
        #expect(frames.filter { $0.type == .reset }.map(\.stream) == [3])
    }

    @Test(.emulator) func `streams after GOAWAY get no answer, whatever follows on them`() async throws {
        let fixture = Fixture.current
        #expect(try await fixture.call("POST", "/control/faults", #"{"action":"goaway"}"#).status == 201)
        let send = [
            (":method", "POST"), (":scheme", "http"), (":path", "/v1/projects/heliograph-dev/messages:send"), (":authority", "localhost"),
            ("authorization", "Bearer " + fixture.emulator.issueAccessToken()),
        ]
        let body = Array(#"{"message":{"token":"\#(fixture.emulator.mintToken())"}}"#.utf8)
        let frames = try await exchange(
            headers(1, send) + headers(3, send) + frame(.data, flags: 1, stream: 1, body)
                + headers(3, [("x-checksum", "1")], endsStream: true) + headers(5, Self.head + [("Upper", "x")], endsStream: true))
        #expect(frames.first { $0.type == .goAway }?.payload.prefix(4) == [0, 0, 0, 1])
        #expect(frames.filter { $0.type == .headers }.map(\.stream) == [1])
        #expect(!frames.contains { $0.type == .reset })
    }

    private enum FrameType: UInt8 { case data, headers, priority, reset, settings, push, ping, goAway, windowUpdate }

    private struct Frame {
        let type: FrameType?
        let stream: UInt8
        let payload: [UInt8]
    }

    /// Sends frames after the preface of a connection, and returns the frames that arrive until those are handled and a PING is answered.
    private func exchange(_ frames: [UInt8]) async throws -> [Frame] {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: try #require(Fixture.current.emulator.port)) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel) }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var request = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            request.writeBytes(frame(.settings, flags: 0, stream: 0, []) + frames)
            try await outbound.write(request)
            var bytes: [UInt8] = []
            var received: [Frame] = []
            var isPingSent = false
            for try await part in inbound {
                bytes += part.readableBytesView
                while bytes.count >= 9, bytes.count >= 9 + Int(bytes[1]) << 8 + Int(bytes[2]) {
                    let end = 9 + Int(bytes[1]) << 8 + Int(bytes[2])
                    received.append(Frame(type: FrameType(rawValue: bytes[3]), stream: bytes[8], payload: Array(bytes[9..<end])))
                    bytes.removeFirst(end)
                }
                // The PING is sent once a request is answered: some are answered by tasks, later than a PING would be.
                if received.contains(where: { $0.type == .ping }) { break }
                if !isPingSent, received.contains(where: { $0.type == .headers }) {
                    isPingSent = true
                    try await outbound.write(ByteBuffer(bytes: frame(.ping, flags: 0, stream: 0, [UInt8](repeating: 7, count: 8))))
                }
            }
            return received
        }
    }

    private func headers(_ stream: UInt8, _ fields: [(String, String)], endsStream: Bool = false) -> [UInt8] {
        frame(.headers, flags: endsStream ? 5 : 4, stream: stream, block(fields))
    }

    /// A frame of HTTP/2 (RFC 9113 § 4.1) of less than 64 kB.
    private func frame(_ type: FrameType, flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type.rawValue, flags, 0, 0, 0, stream] + payload
    }

    /// Fields as literals without indexing (RFC 7541 § 6.2.2).
    private func block(_ fields: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            block.append(0)
            for text in [name, value] {
                // A length with a prefix of seven bits (§ 5.1).
                var rest = text.utf8.count
                block.append(UInt8(min(rest, 127)))
                if rest >= 127 {
                    rest -= 127
                    while rest >= 128 {
                        block.append(UInt8(rest & 127 | 128))
                        rest >>= 7
                    }
                    block.append(UInt8(rest))
                }
                block += text.utf8
            }
        }
        return block
    }
}
