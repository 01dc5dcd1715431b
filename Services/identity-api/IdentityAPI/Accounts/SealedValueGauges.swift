internal import FoundationEssentials
internal import Metrics
internal import PostgresClient
internal import Storage
internal import Synchronization

/// Records how many values of the tables each key has sealed: the gauge `sealed_values`, by ring and id of the key.
///
/// Objects of the blob store are not counted: `heliographctl keys status` does that.
final class SealedValueGauges: Sendable {
    private struct Key: Hashable {
        let purpose: KeyPurpose
        let id: String
    }

    private let postgres: PostgresClient
    private let metrics: any MetricsFactory
    /// The keys that have been recorded: one that seals nothing any more is recorded as 0.
    private let recorded = Mutex<Set<Key>>([])

    init(postgres: PostgresClient, metrics: any MetricsFactory = MetricsSystem.factory) {
        self.postgres = postgres
        self.metrics = metrics
    }

    /// Counts all sealed values and records their numbers. Reads the tables whole.
    func record() async throws {
        let repository = SealedValueRepository(postgres)
        var counts: [Key: Int] = [:]
        for column in SealedColumn.all {
            for (id, count) in try await repository.counts(of: column) { counts[Key(purpose: column.purpose, id: id), default: 0] += count }
        }
        let keys = recorded.withLock { recorded in
            recorded.formUnion(counts.keys)
            return recorded
        }
        for key in keys {
            let dimensions = [("ring", key.purpose.rawValue), ("key_id", key.id)]
            Gauge(label: "sealed_values", dimensions: dimensions, factory: metrics).record(counts[key, default: 0])
        }
    }
}
