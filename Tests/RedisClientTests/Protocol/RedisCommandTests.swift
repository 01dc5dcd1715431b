import CHiredis
import NIOCore
import TestSupport
import Testing

@testable import RedisClient

@Suite struct RedisCommandTests {
    @Test func `A command is encoded as hiredis would`() {
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<500 {
            let arguments = (0..<Int.random(in: 0...20, using: &generator)).map { _ in generator.bytes(upTo: 300) }
            let command = RedisCommand("SET", arguments: arguments)
            #expect(command.encoded == encodedByHiredis([Array("SET".utf8)] + arguments))
        }
    }

    @Test func `Commands of a list are encoded as they are alone`() {
        var list = RedisCommandList(count: 0, capacity: 0)
        let samples: [[(name: String, value: [UInt8])]] = [[("a", [1])], [], [("b", []), ("ü", Array(repeating: 7, count: 300))]]
        for fields in samples {
            list.xadd("s", fieldCount: fields.count) { encoder in
                for field in fields {
                    encoder.append(field.name)
                    encoder.append(field.value)
                }
            }
        }
        let commands = list.finish()
        #expect(commands.map(\.encoded) == samples.map { RedisCommand.xadd("s", fields: $0).encoded })
        #expect(commands.map(\.name) == ["XADD", "XADD", "XADD"])
    }

    @Test func `Integers are encoded as their decimal digits`() {
        for number in [0, 7, 10, -1, 99, 100, .max, .min] as [Int] {
            #expect(RedisCommand("X", number).encoded == RedisCommand("X", String(number)).encoded)
        }
    }

    @Test func `Stream ids are encoded as they are written`() {
        let ids = [
            RedisStreamID.zero, .init(milliseconds: 1_700_000_000_000, sequence: 12), .init(milliseconds: .max, sequence: .max),
        ]
        for id in ids {
            #expect(RedisCommand("X", id).encoded == RedisCommand("X", id.description).encoded)
            #expect(RedisStreamID(id.description) == id)
        }
    }

    @Test(arguments: [
        "", "-", "1", "1-", "-1", "1-2-3", "a-1", "1-18446744073709551616", " 1-1", "+0000000000000000001-1",
        "1-184467440737095516150",
    ])
    func `Text that is not a stream id is refused`(text: String) {
        #expect(RedisStreamID(text) == nil)
    }

    @Test func `Stream ids are ordered by time and then by sequence`() {
        let id = RedisStreamID(milliseconds: 5, sequence: .max)
        #expect(id < RedisStreamID(milliseconds: 6, sequence: 0))
        #expect(id.next == RedisStreamID(milliseconds: 6, sequence: 0))
        #expect(RedisStreamID.zero.next == RedisStreamID(milliseconds: 0, sequence: 1))
    }

    @Test func `The argument count of the typed builders is the number of arguments they write`() throws {
        let commands: [RedisCommand] = [
            .xack("s", group: "g", ids: [.zero, RedisStreamID(milliseconds: .max, sequence: 1)]),
            .xreadgroup(group: "g", consumer: "c", streams: ["a", "b"], count: 10, block: .seconds(1)),
        ]
        for command in commands {
            // A decoder reads a command as an array reply, which is complete at the last byte only if the argument count is right.
            let decoder = RESPDecoder()
            var replies: [RedisReply] = []
            try command.encoded.withUnsafeBytes { try decoder.decode($0, into: &replies) }
            #expect(replies.count == 1 && replies[0].array?.first?.string == command.name)
        }
    }

    @Test func `A blocking time is never encoded as zero, which would mean no limit`() {
        #expect(Duration.zero.redisMilliseconds == 1)
        #expect(Duration.microseconds(1500).redisMilliseconds == 2)
        #expect(Duration.seconds(2).redisMilliseconds == 2000)
    }

    @Test func `Commands are written in their order, those of a list and others, also when some are left out or come twice`() {
        var generator = SeededGenerator(seed: 11)
        func list() -> [RedisCommand] {
            var list = RedisCommandList(count: 4, capacity: 100)
            for _ in 0..<4 {
                let value = generator.bytes(upTo: 30)
                list.xadd("stream", fieldCount: 1) { encoder in
                    encoder.append("name")
                    encoder.append(value)
                }
            }
            return list.finish()
        }
        let (one, other) = (list(), list())
        let single = RedisCommand("PING")
        let orders = [
            one, one + other, [one[0], one[1], single, one[2], other[3]], [one[3], one[0], one[2]], [one[1], one[1]], one.reversed(), [],
        ]
        for commands in orders {
            var buffer = ByteBuffer()
            buffer.write(commands)
            #expect(Array(buffer.readableBytesView) == commands.flatMap(\.encoded))
        }
    }

    @Test func `Neither commands nor replies show their contents`() throws {
        #expect("\(RedisCommand("AUTH", "secret"))" == "AUTH")
        let decoder = RESPDecoder()
        var replies: [RedisReply] = []
        try Array("$6\r\nsecret\r\n".utf8).withUnsafeBytes { try decoder.decode($0, into: &replies) }
        #expect("\(replies[0])" == "bulkString of 6 bytes")
        let error = RedisError(serverMessage: "ERR unknown command 'X', with args beginning with: 'secret'")
        #expect(!"\(error)".contains("secret"))
    }

    private func encodedByHiredis(_ arguments: [[UInt8]]) -> [UInt8] {
        let buffers = arguments.map { bytes in
            let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: max(1, bytes.count))
            for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
            return buffer
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        var pointers = buffers.map { UnsafePointer($0.baseAddress) }
        let lengths = arguments.map(\.count)
        var target: UnsafeMutablePointer<CChar>?
        let length = redisFormatCommandArgv(&target, CInt(arguments.count), &pointers, lengths)
        guard let target, length > 0 else { return [] }
        defer { redisFreeCommand(target) }
        return UnsafeRawBufferPointer(start: target, count: Int(length)).map { $0 }
    }
}

extension RedisCommand {
    /// The command in RESP.
    fileprivate var encoded: [UInt8] { withBytes { Array($0) } }
}
