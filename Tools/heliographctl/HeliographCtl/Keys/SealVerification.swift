internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import ServiceDefaults

/// Opens everything that a ring seals, and forgets it.
struct SealVerification {
    /// The most rows that one statement reads.
    private static let pageSize = 500

    let purpose: KeyPurpose
    let sealer: Sealer
    let postgres: PostgresClient
    /// The store of the ring's objects; nil for a ring without objects.
    let blobs: (any SealedBlobs)?

    /// The numbers of values and objects.
    struct Outcome: Equatable {
        var opened = 0
        /// The values and objects that do not open with the ring, by column or folder.
        var failed: [String: Int] = [:]
    }

    /// Opens the values of all columns and the objects of all folders of the ring.
    func run() async throws -> Outcome {
        var outcome = Outcome()
        for column in SealedColumn.all where column.purpose == purpose { try await verify(column, &outcome) }
        for folder in BlobFolder.allCases where folder.purpose == purpose { try await verify(folder, &outcome) }
        return outcome
    }

    private func verify(_ column: SealedColumn, _ outcome: inout Outcome) async throws {
        let repository = SealedValueRepository(postgres)
        var last: UUID?
        repeat {
            let page = try await repository.page(of: column, after: last, limit: Self.pageSize)
            for cell in page.cells {
                do {
                    try cell.verify(with: sealer)
                    outcome.opened += 1
                } catch {
                    outcome.failed[column.name, default: 0] += 1
                }
            }
            last = page.last
        } while last != nil
    }

    private func verify(_ folder: BlobFolder, _ outcome: inout Outcome) async throws {
        guard let blobs else { return }
        try await blobs.forEachSealed(under: folder.prefix) { page in
            for blob in page {
                do throws(BlobStoreError) {
                    // An object that is deleted meanwhile need not open.
                    if try await blobs.verify(blob.key, limit: SealRotation.maxObjectByteCount) { outcome.opened += 1 }
                } catch {
                    guard error.code == .damaged || error.code == .tooLarge else { throw error }
                    outcome.failed["\(folder.prefix)/", default: 0] += 1
                }
            }
        }
    }
}
