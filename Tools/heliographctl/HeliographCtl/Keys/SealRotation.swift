internal import Accounts
internal import BlobStore
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import ServiceDefaults

/// Reseals all values and objects of a ring with the ring's first key, while the services run.
///
/// Each value is replaced separately, by compare-and-set, so that the rotation may end at any point and begin again.
struct SealRotation {
    /// The most rows that one statement reads.
    private static let pageSize = 500
    /// The most bytes of an object: more than the largest upload.
    static let maxObjectByteCount = 64 * 1024 * 1024
    /// The most passes over the columns. Values that a service copied from one row to another during a pass are found in the next.
    private static let maxPasses = 10

    let purpose: KeyPurpose
    let sealer: Sealer
    let postgres: PostgresClient
    /// The store of the ring's objects; nil for a ring without objects.
    let blobs: (any SealedBlobs)?
    let rate: RateArgument?
    /// The time between two lines of progress.
    var interval: Duration = .seconds(10)

    /// The result of a rotation.
    struct Outcome: Equatable {
        /// The resealed values and objects.
        var resealed = 0
        /// The values and objects that another write replaced or deleted first.
        var overtaken = 0
        /// The values and objects that do not open with the ring.
        var failed = 0
        /// The values and objects that the current pass has looked at.
        fileprivate var seen = 0
    }

    /// Runs passes until a pass finds no value to reseal.
    ///
    /// - Parameter note: Prints a line of progress.
    func run(note: (PrintableText) -> Void) async throws -> Outcome {
        var total = Outcome()
        for _ in 0..<Self.maxPasses {
            var pass = Outcome()
            var progress = Progress(interval: interval)
            for column in SealedColumn.all where column.purpose == purpose {
                try await rotate(column, &pass) { progress.note(column.name, $0, note) }
            }
            for folder in BlobFolder.allCases where folder.purpose == purpose {
                try await rotate(folder, &pass) { progress.note("\(folder.prefix)/", $0, note) }
            }
            total.resealed += pass.resealed
            total.overtaken += pass.overtaken
            total.failed = pass.failed
            if pass.resealed + pass.overtaken == 0 { break }
        }
        return total
    }

    private func rotate(_ column: SealedColumn, _ outcome: inout Outcome, _ note: (Outcome) -> Void) async throws {
        let repository = SealedValueRepository(postgres)
        var last: UUID?
        repeat {
            let page = try await repository.page(of: column, after: last, limit: Self.pageSize, exceptKey: sealer.currentKeyID)
            for cell in page.cells {
                outcome.seen += 1
                do {
                    guard let new = try cell.resealed(by: sealer) else { continue }
                    if try await repository.replace(cell, of: column, by: new) { outcome.resealed += 1 } else { outcome.overtaken += 1 }
                    try await rate?.pause()
                } catch is CryptoError {
                    outcome.failed += 1
                }
            }
            note(outcome)
            last = page.last
        } while last != nil
    }

    private func rotate(_ folder: BlobFolder, _ outcome: inout Outcome, _ note: (Outcome) -> Void) async throws {
        guard let blobs else { return }
        try await blobs.forEachSealed(under: folder.prefix) { page in
            for blob in page where blob.keyID != sealer.currentKeyID {
                outcome.seen += 1
                do throws(BlobStoreError) {
                    let isThere = try await blobs.reseal(blob.key, limit: Self.maxObjectByteCount)
                    if isThere { outcome.resealed += 1 } else { outcome.overtaken += 1 }
                } catch {
                    guard error.code == .damaged || error.code == .tooLarge else { throw error }
                    outcome.failed += 1
                }
                try await rate?.pause()
            }
            note(outcome)
        }
    }

    /// Prints a line at most every interval.
    private struct Progress {
        let interval: Duration
        private var last = ContinuousClock.now

        init(interval: Duration) { self.interval = interval }

        mutating func note(_ name: String, _ outcome: Outcome, _ note: (PrintableText) -> Void) {
            guard ContinuousClock.now - last >= interval else { return }
            last = .now
            note("\(name): \(outcome.resealed) sealed anew, \(outcome.overtaken) overtaken, \(outcome.failed) do not open")
        }
    }
}
