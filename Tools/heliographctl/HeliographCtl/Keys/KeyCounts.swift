internal import Accounts
internal import BlobStore
internal import CommandLineSupport
internal import Foundation
internal import HeliographCrypto
internal import Logging
internal import PostgresClient
internal import ServiceDefaults

/// The number of sealed values and objects of a ring, by the id of the key that sealed them; for lookups, the number of rows that each key
/// finds.
struct KeyCounts {
    let purpose: KeyPurpose
    /// The ids of the ring's keys; the first key seals. nil when the ring is not known.
    let ring: [String]?
    private(set) var counts: [String: Int] = [:]
    /// Whether objects were counted, or the ring has no objects.
    private(set) var isComplete = true

    /// Counts the values and objects of a ring.
    ///
    /// - Parameters:
    ///   - ring: The ids of the ring's keys.
    ///   - blobs: The store; with nil its objects are not counted.
    init(_ purpose: KeyPurpose, ring: [String]?, postgres: PostgresClient, blobs: (any SealedBlobs)?) async throws {
        self.purpose = purpose
        self.ring = ring
        let repository = SealedValueRepository(postgres)
        for column in SealedColumn.all where column.purpose == purpose { add(try await repository.counts(of: column)) }
        if purpose == .tokens { add(try await repository.countsInOutbox()) }
        for folder in BlobFolder.allCases where folder.purpose == purpose {
            guard let blobs else {
                isComplete = false
                continue
            }
            var found: [String: Int] = [:]
            try await blobs.forEachSealed(under: folder.prefix) { page in
                for blob in page { found[blob.keyID ?? "", default: 0] += 1 }
            }
            add(found)
        }
    }

    /// Counts the rows that the lookups of each key find: for the first key all rows, for another key the rows that the first key does not
    /// find.
    ///
    /// - Parameter keys: The ring; nil when it is not known.
    init(lookups keys: LookupKeys?, postgres: PostgresClient) async throws {
        purpose = .lookups
        ring = keys?.ids
        add(try await LookupRepository(postgres).counts(first: ring?.first))
        guard let keys else { return }
        for (id, header) in zip(keys.ids, try ErasureReceiptKey(lookupKeys: keys).headers) {
            let count = try await ErasureRepository(postgres).countReceipts(beginningWith: header)
            if count > 0 { add([id: count]) }
        }
    }

    private mutating func add(_ more: [String: Int]) { counts.merge(more, uniquingKeysWith: +) }

    /// The ids of all keys of the ring and of all keys that sealed something, the keys of the ring first.
    var keyIDs: [String] { (ring ?? []) + counts.keys.filter { !(ring ?? []).contains($0) }.sorted() }

    /// The use of a key, and whether it may be removed.
    func state(of keyID: String) -> String {
        let count = counts[keyID, default: 0]
        guard let ring else { return "in use" }
        guard ring.contains(keyID) else { return keyID.isEmpty ? "not sealed" : "not in the ring" }
        if keyID == ring.first { return purpose == .lookups ? "in use, writes" : "in use, seals" }
        if count > 0 { return "in use" }
        guard isComplete else { return "unknown: set BLOB_STORE_PATH or S3_…" }
        return isNew(keyID, in: ring) ? "unused, new" : "safe to remove"
    }

    /// Whether an unused key waits to be put in front, rather than to be removed. No record exists of a key that has not sealed a value, so
    /// its id decides, in the order of numbers: k2 and k10 come after k1, and 2027 after 2026.
    private func isNew(_ keyID: String, in ring: [String]) -> Bool {
        keyID.compare(ring[0], options: .numeric) == .orderedDescending
    }

    /// The store of the objects that a ring seals, from the settings; nil for a ring without objects.
    static func store(for purpose: KeyPurpose, sealer: Sealer) throws -> (any SealedBlobs)? {
        guard BlobFolder.allCases.contains(where: { $0.purpose == purpose }) else { return nil }
        return try reporting { try Settings().blobStore(sealer: sealer, logger: .silent) }
    }
}
