import RedisClient
import TestSupport

/// A reply as a tree, to compare with the decoder's result for its bytes.
indirect enum SampleReply: Equatable {
    case status([UInt8]), bulk([UInt8]), integer(Int), null, array([SampleReply]), error([UInt8])

    static func random(depth: Int, using generator: inout SeededGenerator) -> SampleReply {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &generator) {
        case 0: .status(line(using: &generator))
        case 1: .bulk(generator.bytes(upTo: Bool.random(using: &generator) ? 12 : 3000))
        case 2: .integer(Int.random(in: .min ... .max, using: &generator))
        case 3: .null
        case 4: .error(line(using: &generator))
        default:
            .array((0..<Int.random(in: 0...5, using: &generator)).map { _ in random(depth: depth - 1, using: &generator) })
        }
    }

    private static func line(using generator: inout SeededGenerator) -> [UInt8] {
        generator.bytes(upTo: 20).filter { $0 != 13 && $0 != 10 }
    }

    /// The reply in RESP2.
    var encoded: [UInt8] {
        switch self {
        case .status(let text): [0x2B] + text + [13, 10]
        case .error(let text): [0x2D] + text + [13, 10]
        case .integer(let number): Array(":\(number)\r\n".utf8)
        case .null: Array("$-1\r\n".utf8)
        case .bulk(let bytes): Array("$\(bytes.count)\r\n".utf8) + bytes + [13, 10]
        case .array(let elements): Array("*\(elements.count)\r\n".utf8) + elements.flatMap(\.encoded)
        }
    }

    init(_ reply: RedisReply) {
        switch reply.kind {
        case .status: self = .status(reply.bytes ?? [])
        case .bulkString: self = .bulk(reply.bytes ?? [])
        case .integer: self = .integer(reply.integer ?? 0)
        case .null: self = .null
        case .error: self = .error(reply.withBytes { Array($0) })
        case .array: self = .array((reply.array ?? []).map(SampleReply.init))
        }
    }
}
