import Synchronization
import TestSupport
import Testing

@testable import RedisClient

extension RedisReply {
    /// Decodes one reply in RESP2.
    static func decoding(_ sample: SampleReply) throws -> RedisReply {
        var replies: [RedisReply] = []
        try sample.encoded.withUnsafeBytes { try RESPDecoder(limits: RESPLimits()).decode($0, into: &replies) }
        return try #require(replies.first)
    }

    static func error(_ text: String) throws -> RedisReply { try decoding(.error(Array(text.utf8))) }

    static func ok() throws -> RedisReply { try decoding(.status(Array("OK".utf8))) }
}

extension RedisAddress {
    /// One of the servers that these tests only name.
    static func sample(_ number: Int) -> RedisAddress { RedisAddress(host: "10.0.0.\(number)", port: 7000) }
}

extension SlotMap {
    /// A map of three masters, 1 to 3, which have a third of the slots each, and of one replica each, 4 to 6.
    static func sample() throws -> SlotMap {
        try SlotMap(
            try .decoding(.array([range(0, 5460, 1), range(5461, 10_922, 2), range(10_923, 16_383, 3)])), from: .sample(1))
    }

    /// One range of `CLUSTER SLOTS`.
    static func range(_ first: Int, _ last: Int, _ master: Int) -> SampleReply {
        .array([.integer(first), .integer(last), server("10.0.0.\(master)"), server("10.0.0.\(master + 3)")])
    }

    /// One server of a range.
    static func server(_ host: String) -> SampleReply {
        .array([.bulk(Array(host.utf8)), .integer(7000), .bulk(Array("id".utf8)), .array([])])
    }
}

/// Runs `body` with a client of a cluster.
func withClusterClient<Value>(
    of cluster: RedisClusterServers, _ body: (RedisClient) async throws -> Value
) async throws -> Value {
    try await withClient(url: cluster.url) { client, _ in try await body(client) }
}

/// Tells tasks that send commands to stop.
final class StopFlag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
