import TestSupport
import Testing

@testable import HTTPClient

@Suite struct HeaderEncoderTests {
    private static let origin = HTTP2Origin("https://fcm.example.org")

    private static func push(token: String = "one") throws -> HTTP2Request {
        try HTTP2Request(path: "/v1/send", headers: [("Authorization", "Bearer \(token)"), ("content-type", "application/json")])
    }

    /// The fields that a server must receive.
    private static func expected(_ request: HTTP2Request, length: Int) -> [HeaderField] {
        [HeaderField(":scheme", "https"), HeaderField(":authority", "fcm.example.org")] + request.fields
            + (length > 0 || request.hasBody ? [HeaderField("content-length", "\(length)")] : [])
    }

    /// An encoder and the decoder of its server.
    private struct Connection {
        var encoder = HeaderEncoder(origin)
        let decoder = HeaderDecoder()

        /// Encodes a request, expects the server to read its fields, and returns the block.
        @discardableResult mutating func send(
            _ request: HTTP2Request, length: Int = 700, sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> [UInt8] {
            var block: [UInt8] = []
            encoder.append(request, bodyByteCount: length, to: &block)
            #expect(try decoder.decode(block) == expected(request, length: length), sourceLocation: sourceLocation)
            return block
        }

        mutating func limitTable(to byteCount: Int) {
            encoder.limitTable(to: byteCount)
            decoder.limitTable(to: byteCount)
        }
    }

    @Test func `a request that was sent before is sent in a dozen bytes`() throws {
        var connection = Connection()
        let push = try Self.push()
        let first = try connection.send(push)
        #expect(first.count > 60)
        for length in [1, 123, 4000] {
            // Scheme, authority, method, path, authorization and content type by their indexes; the length in digits.
            let digits = Array("\(length)".utf8)
            let block = try connection.send(push, length: length)
            #expect(block == [0x87, 0xC1, 0x83, 0xC0, 0xBF, 0xBE, 0x0F, 0x0D, UInt8(digits.count)] + digits)
        }
    }

    @Test func `a new token replaces one field, and the next request is as small as before`() throws {
        var connection = Connection()
        let (old, new) = (try Self.push(token: "one"), try Self.push(token: "two"))
        try connection.send(old)
        let small = try connection.send(old)
        #expect(try connection.send(new).count == small.count + "Bearer two".utf8.count + 1)
        #expect(try connection.send(new).count == small.count)
        #expect(try connection.send(old).count == small.count)
    }

    @Test func `a request without a body has a length only if its method carries one`() throws {
        var connection = Connection()
        for method in ["GET", "POST", "DELETE", "PUT"] {
            try connection.send(HTTP2Request(method: method, path: "/"), length: 0)
        }
    }

    @Test func `a server without a table receives all fields each time`() throws {
        var connection = Connection()
        connection.limitTable(to: 0)
        let push = try Self.push()
        let announced = try connection.send(push)
        let block = try connection.send(push)
        #expect(announced == [0x20] + block, "the first block announces the size")
    }

    @Test func `a table that shrinks and grows between two requests is announced with both sizes`() throws {
        var connection = Connection()
        let push = try Self.push()
        try connection.send(push)
        connection.limitTable(to: 64)
        connection.limitTable(to: 10_000)
        // 64 and 4096, each after the pattern 001: the table is emptied, and not larger than before.
        #expect(try connection.send(push).prefix(6) == [0x3F, 0x21, 0x3F, 0xE1, 0x1F, 0x87])
    }

    @Test func `a table that is only larger than needed changes nothing`() throws {
        var connection = Connection()
        let push = try Self.push()
        try connection.send(push)
        let block = try connection.send(push)
        connection.limitTable(to: 65_536)
        #expect(try connection.send(push) == block)
    }

    @Test(arguments: UInt64(0)..<20)
    func `a server reads the fields of any requests, whatever its table`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var connection = Connection()
        func text(_ most: Int) -> String {
            String((0..<Int.random(in: 1...most, using: &random)).map { _ in "abcdefgh".randomElement(using: &random)! })
        }
        let requests = try (0..<6).map { _ in
            let headers = (0..<Int.random(in: 0...4, using: &random)).map { _ in (text(200), text(seed.isMultiple(of: 2) ? 300 : 2500)) }
            return try HTTP2Request(method: ["POST", "GET"].randomElement(using: &random)!, path: "/" + text(200), headers: headers)
        }
        for _ in 0..<300 {
            while Int.random(in: 0..<20, using: &random) == 0 {
                connection.limitTable(to: [0, 50, 400, 1000, 4096, 9000].randomElement(using: &random)!)
            }
            try connection.send(requests.randomElement(using: &random)!, length: Int.random(in: 0...100_000, using: &random))
        }
    }

    @Test(arguments: [[0], [4096], [0, 4096], [100, 65_536]] as [[UInt32]])
    func `a client follows the sizes of the server's table, also those of one SETTINGS frame`(sizes: [UInt32]) async throws {
        let server = try await FramePeer.server { peer in
            let decoder = HeaderDecoder()
            func answer(after step: () async throws -> Void = {}) async throws {
                let frame = try await peer.read(FramePeer.Kind.headers)
                let fields = try decoder.decode(frame.payload)
                let isWhole = fields.contains(HeaderField("content-length", "5")) && fields.contains(Self.token)
                try await step()
                // The size of the block is answered as the status.
                try await peer.answer(frame.stream, status: "\(isWhole ? 200 + frame.payload.count : 999)")
            }
            try await answer()
            // Before the answer, so that the client knows them when it sends the next request.
            try await answer { try await peer.set(sizes.map { (1, $0) }) }
            // The client acknowledges them, as it did with those at the start, before it follows them.
            for _ in 0..<2 { _ = try await peer.read { $0.type == FramePeer.Kind.settings && $0.flags & 1 != 0 } }
            for size in sizes { decoder.limitTable(to: Int(size)) }
            while true { try await answer() }
        }
        try await withHTTP2Client(server.origin) { client in
            let request = try HTTP2Request(path: "/", headers: [("authorization", Self.token.text)])
            var blocks: [Int] = []
            for _ in 0..<4 { blocks.append(try await client.execute(request, body: Array("hello".utf8)).status - 200) }
            #expect(blocks.allSatisfy { $0 < 700 }, "the fields arrived")
            #expect(blocks[0] > 250 && blocks[1] < 20)
            if sizes == [4096] { #expect(blocks[2] == blocks[1]) } else { #expect(blocks[2] > 250, "the table was emptied") }
            if sizes == [0] { #expect(blocks[3] > 250) } else { #expect(blocks[3] == blocks[1]) }
        }
    }

    private static let token = HeaderField("authorization", String(repeating: "x", count: 250))
}

extension HeaderField {
    fileprivate var text: String { String(decoding: value, as: UTF8.self) }
}
