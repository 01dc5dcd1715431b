import CoreMetrics
import Logging
import RedisClient
import ServiceLifecycle

/// Watches how full Redis is: when it is full it refuses to publish, and nothing moves any more.
///
/// Every service does, so that the figure is there as long as any of them runs.
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
        await periodically("looking at Redis' memory", every: Self.interval, logger: logger) { try await look() }
    }

    private func look() async throws {
        guard let memory = RedisMemory(info: try await redis.send(RedisCommand("INFO", "memory")).string ?? "") else { return }
        used.record(memory.used)
        limit.record(memory.limit)
    }
}

/// How full Redis is, in bytes.
struct RedisMemory: Equatable {
    let used: Int
    /// `maxmemory`, or without one what the machine has.
    let limit: Int

    /// Reads what `INFO memory` says; nil when that does not hold what it should.
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
