import TestSupport
import Testing

@testable import RedisClient

@Suite struct RESPDecoderTests {
    @Test func `Every kind of reply is read`() throws {
        let replies = try decode("+OK\r\n:-42\r\n$5\r\nhello\r\n$-1\r\n*-1\r\n*2\r\n:1\r\n$0\r\n\r\n-ERR no\r\n")
        #expect(replies.map(\.kind) == [.status, .integer, .bulkString, .null, .null, .array, .error])
        #expect(replies[0].string == "OK")
        #expect(replies[1].integer == -42)
        #expect(replies[2].string == "hello")
        #expect(replies[5].array?.count == 2)
        #expect(replies[5].array?[1].bytes == [])
        #expect(replies[6].error?.code == .server(.err))
    }

    @Test func `Any split of the bytes gives the same replies`() throws {
        var generator = SeededGenerator(seed: 20_261_121)
        for _ in 0..<200 {
            let samples = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                SampleReply.random(depth: 4, using: &generator)
            }
            let bytes = samples.flatMap(\.encoded)
            #expect(try decode(bytes, chunk: { bytes.count }) == samples)
            #expect(try decode(bytes, chunk: { Int.random(in: 1...200, using: &generator) }) == samples)
            if bytes.count < 4000 { #expect(try decode(bytes, chunk: { 1 }) == samples) }
        }
    }

    @Test func `The elements of an array are found after nested arrays`() throws {
        let reply = try decode("*3\r\n*2\r\n:1\r\n*1\r\n:2\r\n*0\r\n:3\r\n")[0]
        let elements = try #require(reply.elements)
        #expect(elements.map(\.kind) == [.array, .array, .integer])
        #expect(Array(elements)[2].integer == 3)
    }

    @Test func `Replies stay readable after later ones have arrived`() throws {
        let decoder = RESPDecoder()
        var replies: [RedisReply] = []
        try feed(decoder, "$3\r\none\r\n$3\r\nt", into: &replies)
        try feed(decoder, "wo\r\n", into: &replies)
        #expect(replies.map(\.string) == ["one", "two"])
    }

    @Test(arguments: [
        "!nonsense\r\n", "$abc\r\n", "$-2\r\n", "*-2\r\n", "$99999999999999999999999\r\n", "*4294967296000\r\n", ":12x\r\n",
        "HTTP/1.1 400 Bad Request\r\n",
    ])
    func `After bytes that are not RESP2 the decoder refuses all further bytes`(text: String) {
        let decoder = RESPDecoder()
        var replies: [RedisReply] = []
        let error = #expect(throws: RedisError.self) { try feed(decoder, "+OK\r\n" + text, into: &replies) }
        #expect(error?.code == .protocolViolation)
        #expect(replies.map(\.string) == ["OK"], "replies before the error are returned")
        #expect(throws: RedisError.self) { try feed(decoder, "+OK\r\n", into: &replies) }
        #expect(replies.count == 1)
    }

    @Test func `Arrays nested too deeply are refused`() {
        let decoder = RESPDecoder(limits: RESPLimits(maxBytes: 1 << 20, maxValues: 1000))
        var replies: [RedisReply] = []
        #expect(throws: RedisError.self) {
            try feed(decoder, String(repeating: "*1\r\n", count: 100_000), into: &replies)
        }
        #expect(replies.isEmpty)
    }

    @Test func `A reply as deep as those of Redis' stream commands is read`() throws {
        let deep = String(repeating: "*1\r\n", count: 6) + ":1\r\n"
        var reply = try decode(deep)[0]
        for _ in 0..<6 { reply = try #require(reply.array?.first) }
        #expect(reply.integer == 1)
    }

    @Test func `A string above the limit is refused before all of it has arrived`() {
        let decoder = RESPDecoder(limits: RESPLimits(maxBytes: 10_000, maxValues: 1000))
        var replies: [RedisReply] = []
        var fed = 0
        let error = #expect(throws: RedisError.self) {
            try feed(decoder, "$9000000000000000000\r\n", into: &replies)
            while fed < 1_000_000 {
                try feed(decoder, String(repeating: "x", count: 1000), into: &replies)
                fed += 1000
            }
        }
        #expect(error?.code == .replyTooLarge)
        #expect(fed < 11_000)
    }

    @Test func `A reply with too many values is refused`() {
        let decoder = RESPDecoder(limits: RESPLimits(maxBytes: 1 << 20, maxValues: 100))
        var replies: [RedisReply] = []
        let error = #expect(throws: RedisError.self) {
            try feed(decoder, "*2000000000\r\n" + String(repeating: "*0\r\n", count: 200), into: &replies)
        }
        #expect(error?.code == .replyTooLarge)
    }

    @Test func `The limits apply to each reply and not to their sum`() throws {
        let decoder = RESPDecoder(limits: RESPLimits(maxBytes: 100, maxValues: 10))
        var replies: [RedisReply] = []
        for _ in 0..<100 {
            try feed(decoder, "*2\r\n$10\r\n0123456789\r\n$20\r\n01234567", into: &replies)
            try feed(decoder, "890123456789\r\n", into: &replies)
        }
        #expect(replies.count == 100)
        try feed(decoder, String(repeating: "+OK\r\n", count: 100), into: &replies)
        #expect(replies.count == 200)
    }

    @Test func `The limits are as low after other replies as before them`() throws {
        let decoder = RESPDecoder(limits: RESPLimits(maxBytes: 1000, maxValues: 10))
        var replies: [RedisReply] = []
        try feed(decoder, String(repeating: "+OK\r\n", count: 10), into: &replies)
        let error = #expect(throws: RedisError.self) {
            try feed(decoder, "*11\r\n" + String(repeating: ":1\r\n", count: 11), into: &replies)
        }
        #expect(error?.code == .replyTooLarge)
        #expect(replies.count == 10)
    }

    @Test func `Random bytes never crash the decoder, and replies stay below its limits`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let decoder = RESPDecoder(limits: RESPLimits(maxBytes: 4096, maxValues: 64))
            var replies: [RedisReply] = []
            for _ in 0..<4 {
                let bytes = generator.bytes(upTo: 64)
                try? bytes.withUnsafeBytes { try decoder.decode($0, into: &replies) }
            }
            // A reply has at least three bytes.
            #expect(replies.map(SampleReply.init).count <= 4 * 64 / 3)
        }
    }

    // MARK: Helpers

    private func decode(_ text: String) throws -> [RedisReply] {
        let decoder = RESPDecoder()
        var replies: [RedisReply] = []
        try feed(decoder, text, into: &replies)
        return replies
    }

    private func feed(_ decoder: RESPDecoder, _ text: String, into replies: inout [RedisReply]) throws {
        try Array(text.utf8).withUnsafeBytes { try decoder.decode($0, into: &replies) }
    }

    private func decode(_ bytes: [UInt8], chunk: () -> Int) throws -> [SampleReply] {
        let decoder = RESPDecoder()
        var replies: [RedisReply] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(chunk())
            try piece.withUnsafeBytes { try decoder.decode($0, into: &replies) }
            rest = rest.dropFirst(piece.count)
        }
        return replies.map(SampleReply.init)
    }
}
