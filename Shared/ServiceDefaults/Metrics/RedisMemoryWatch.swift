import CoreMetrics
import Logging
import RedisClient
import ServiceLifecycle

/// Measures the memory of Redis: when it is full, Redis refuses to publish and the whole system stops. For a cluster, it is the memory of
/// the server with the least free memory.
///
/// Every service measures it, so that the metric exists as long as any of them runs.
struct RedisMemoryWatch: Service {
    private static let interval: Duration = .seconds(10)

    private let redis: RedisClient
    private let logger: Logger
    private let used = Gauge(label: "redis_memory_used_bytes")
    private let limit = Gauge(label: "redis_memory_limit_bytes")

    init(redis: RedisClient, logger: Logger) {
        self.redis = redis
        self.logger = logger
    }

    func run() async throws {
        await periodically("reading the memory of Redis", every: Self.interval, logger: logger) { try await sample() }
    }

    private func sample() async throws {
        let servers = try await redis.sendToAllServers(RedisCommand("INFO", "memory")).compactMap { RedisMemory(info: $0.string ?? "") }
        guard let memory = servers.max(by: { $0.share < $1.share }) else { return }
        used.record(memory.used)
        limit.record(memory.limit)
    }
}

/// The memory of Redis, in bytes.
struct RedisMemory: Equatable {
    let used: Int
    /// `maxmemory`, or the memory of the machine when that is 0.
    let limit: Int

    /// The share of the limit that is used, from 0.
    var share: Double { Double(used) / Double(max(limit, 1)) }

    /// Parses the reply to `INFO memory`; nil when a required field is missing.
    init?(info: String) {
        var values: [Substring: Int] = [:]
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":"), let value = Int(line[line.index(after: colon)...]) else { continue }
            values[line[..<colon]] = value
        }
        guard let used = values["used_memory"], let machine = values["total_system_memory"] else { return nil }
        let own = values["maxmemory"] ?? 0
        self.used = used
        limit = own > 0 ? own : machine
    }
}
