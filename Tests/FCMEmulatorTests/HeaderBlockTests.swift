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
        ("transfer-encoding", "chunked"), ("upgrade", "h2c"), (":status", "200"), (":unknown", "x"), (":path", "/after-a-regular-field"),
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

    @Test func `no pseudo-field comes twice`() { #expect(!HeaderBlock.isRequest(headers(Self.head + [(":path", "/x")]))) }

    @Test func `CONNECT has a method and an authority`() {
        #expect(HeaderBlock.isRequest(headers([(":method", "CONNECT"), (":authority", "localhost:1")])))
        #expect(!HeaderBlock.isRequest(headers([(":method", "CONNECT"), (":authority", "a"), (":path", "/"), (":scheme", "https")])))
    }

    @Test(.emulator) func `a malformed request resets its stream, and the next is served on the same connection`() async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: try #require(Fixture.current.emulator.port)) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel) }
            }
        try await channel.executeThenClose { inbound, outbound in
            var request = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            request.writeBytes(frame(type: 4, flags: 0, stream: 0, []))
            request.writeBytes(frame(type: 1, flags: 5, stream: 1, block(Self.head + [("Upper", "x")])))
            request.writeBytes(frame(type: 1, flags: 5, stream: 3, block(Self.head)))
            try await outbound.write(request)
            var answer: [UInt8] = []
            var frames: [(type: UInt8, stream: UInt8, payload: [UInt8])] = []
            for try await part in inbound {
                answer += part.readableBytesView
                while answer.count >= 9, answer.count >= 9 + Int(answer[1]) << 8 + Int(answer[2]) {
                    let end = 9 + Int(answer[1]) << 8 + Int(answer[2])
                    frames.append((answer[3], answer[8], Array(answer[9..<end])))
                    answer.removeFirst(end)
                }
                if frames.contains(where: { $0.type == 1 }) { break }
            }
            let reset = try #require(frames.first { $0.type == 3 })
            #expect(reset.stream == 1 && reset.payload == [0, 0, 0, 1], "PROTOCOL_ERROR")
            #expect(frames.first { $0.type == 1 }?.stream == 3)
        }
    }

    /// A frame of HTTP/2 (RFC 9113 § 4.1) of less than 64 kB.
    private func frame(type: UInt8, flags: UInt8, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
    }

    /// Fields as literals without indexing, each of less than 127 bytes (RFC 7541 § 6.2.2).
    private func block(_ fields: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            block.append(0)
            for text in [name, value] {
                block.append(UInt8(text.utf8.count))
                block += text.utf8
            }
        }
        return block
    }
}
