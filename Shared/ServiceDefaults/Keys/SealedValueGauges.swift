public import Accounts
public import CoreMetrics
public import HeliographCrypto
public import PostgresClient
public import Schema
internal import Synchronization

/// Records how many values of the tables each key has sealed or finds: the gauge `sealed_values`, by ring and id of the key.
///
/// A service records the columns that ``SealedColumn/counter`` gives it, so that no service reads a table only to count it. Large tables
/// are sampled by one instance for all (``SealedValueEstimateRepository``). Objects of the blob store are not counted:
/// `heliographctl keys status` does that.
public final class SealedValueGauges: Sendable {
    private struct Key: Hashable {
        let purpose: KeyPurpose
        let id: String
    }

    private let postgres: PostgresClient
    private let columns: [SealedColumn]
    private let metrics: any MetricsFactory
    /// The keys that are recorded even without values: the sealing keys, and the keys that have sealed values before.
    private let recorded: Mutex<Set<Key>>

    /// Makes the gauges of a service.
    ///
    /// - Parameter sealers: The sealers that the service has. Their current keys are recorded from the start, so that a dashboard tells a
    ///   key without values from a service that does not count.
    public init(
        postgres: PostgresClient, of service: ServiceRole, sealers: [KeyPurpose: Sealer] = [:],
        metrics: any MetricsFactory = MetricsSystem.factory
    ) {
        self.postgres = postgres
        recorded = Mutex(Set(sealers.map { Key(purpose: $0.key, id: $0.value.currentKeyID) }))
        columns = SealedColumn.all.filter { $0.counter == service }
        self.metrics = metrics
    }

    /// Records the numbers of sealed values.
    ///
    /// - Parameter age: The age after which estimates are replaced.
    public func record(olderThan age: Duration) async throws {
        let repository = SealedValueRepository(postgres)
        var counts: [Key: Int] = [:]
        for column in columns where !column.isSampled {
            for (id, count) in try await repository.counts(of: column) { counts[Key(purpose: column.purpose, id: id), default: 0] += count }
        }
        if columns.contains(where: \.isSampled) {
            for estimate in try await estimates(olderThan: age) {
                counts[Key(purpose: estimate.purpose, id: estimate.keyID), default: 0] += estimate.count
            }
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

    private func estimates(olderThan age: Duration) async throws -> [SealedValueEstimate] {
        try await postgres.withTransaction { transaction in
            let repository = SealedValueEstimateRepository(transaction)
            try await repository.refresh(olderThan: age)
            return try await repository.all()
        }
    }
}
