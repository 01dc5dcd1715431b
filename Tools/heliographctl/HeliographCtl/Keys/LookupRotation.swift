internal import Accounts
internal import CommandLineSupport
internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import ServiceDefaults

/// Makes the lookups of e-mails and of users of identity providers under the first key of a ring, while the services run.
///
/// Each row is changed by compare-and-set, so that the rotation may end at any point and begin again. It only adds lookups, so a run with a
/// ring that the services do not have loses no lookup; with such a ring it also removes none.
struct LookupRotation {
    /// The most passes over the sources. A lookup that a service copied from one row to another during a pass is found in the next pass.
    private static let maxPasses = 10

    let keys: LookupKeys
    /// Opens e-mails: the ring of accounts.
    let sealer: Sealer
    let postgres: PostgresClient
    let rate: RateArgument?

    /// The result of a rotation.
    struct Outcome: Equatable {
        /// The rows that got lookups, and the receipts that were signed again.
        var made = 0
        /// The rows that another write changed or deleted first.
        var overtaken = 0
        /// The rows that do not open, and the receipts that no key of the ring has signed.
        var failed = 0
        /// The lookups that were deleted, of keys that the ring has no longer.
        var deleted = 0
        /// Whether the last pass found no missing lookup. Otherwise rows are changed all the time, or an e-mail has two accounts.
        var isFinished = true
    }

    /// Runs passes until a pass finds no missing lookup.
    ///
    /// - Parameter note: Prints a line of progress.
    func run(note: (PrintableText) -> Void) async throws -> Outcome {
        var total = Outcome(isFinished: false)
        for _ in 0..<Self.maxPasses {
            var pass = Outcome()
            for source in LookupSource.allCases {
                try await rotate(source, &pass)
                note("\(source.rawValue): \(pass.made) made anew, \(pass.overtaken) overtaken, \(pass.failed) do not open")
            }
            try await signReceipts(&pass)
            total.made += pass.made
            total.overtaken += pass.overtaken
            total.failed = pass.failed
            if pass.made + pass.overtaken == 0 {
                total.isFinished = true
                break
            }
        }
        return total
    }

    /// Deletes the lookups of keys that are not in the ring any more, if the first key finds the account.
    ///
    /// It makes no lookups. It compares the lookup of the first key, not only its id, because the first key of the ring has to be the
    /// services' first key.
    ///
    /// - Parameter note: Prints a line of progress.
    /// - Returns: The deleted lookups. Failures are accounts that the first key does not find, or whose values do not open.
    func forget(note: (PrintableText) -> Void) async throws -> Outcome {
        let repository = LookupRepository(postgres)
        var outcome = Outcome()
        for source in [LookupSource.emails, .subjects] {
            try await repository.forEachOwner(of: source) { owner in
                let gone = owner.lookups(except: keys.ids)
                guard !gone.isEmpty else { return }
                guard owner.isFound(byFirstOf: keys, openedBy: sealer) else {
                    outcome.failed += 1
                    return
                }
                outcome.deleted += try await repository.delete(gone, of: owner)
                try await rate?.pause()
            }
            note("\(source.rawValue): \(outcome.deleted) deleted, \(outcome.failed) are not found")
        }
        return outcome
    }

    private func rotate(_ source: LookupSource, _ outcome: inout Outcome) async throws {
        let repository = LookupRepository(postgres)
        try await repository.forEachOwner(of: source) { owner in
            guard !owner.has(keyID: keys.ids[0]) else { return }
            do {
                let lookups = try owner.lookups(under: keys, openedBy: sealer)
                if try await repository.add(lookups, to: owner) { outcome.made += 1 } else { outcome.overtaken += 1 }
                try await rate?.pause()
            } catch is CryptoError {
                outcome.failed += 1
            }
        }
    }

    /// Signs the stored receipts of erasures again: the signing key derives from the ring, and earlier public keys are not published for
    /// ever.
    private func signReceipts(_ outcome: inout Outcome) async throws {
        let (repository, key) = (ErasureRepository(postgres), try ErasureReceiptKey(lookupKeys: keys))
        try await repository.forEachReceipt { id, receipt in
            do {
                guard let new = try key.signedAnew(receipt) else { return }
                if try await repository.replace(receipt: receipt, of: id, by: new) { outcome.made += 1 } else { outcome.overtaken += 1 }
                try await rate?.pause()
            } catch is CryptoError {
                outcome.failed += 1
            }
        }
    }
}

/// Opens e-mails and ids of users, and looks whether the first key of a ring finds them.
struct LookupVerification {
    let keys: LookupKeys
    /// Opens e-mails: the ring of accounts.
    let sealer: Sealer
    let postgres: PostgresClient

    /// Looks at all rows of all sources, and at the receipts of erasures.
    func run() async throws -> SealVerification.Outcome {
        var outcome = SealVerification.Outcome()
        for source in LookupSource.allCases {
            try await LookupRepository(postgres).forEachOwner(of: source) { owner in
                count(owner.isFound(byFirstOf: keys, openedBy: sealer), of: source.rawValue, &outcome)
            }
        }
        let key = try ErasureReceiptKey(lookupKeys: keys)
        try await ErasureRepository(postgres).forEachReceipt { _, receipt in
            count(key.verifiedClaims(of: receipt) != nil, of: "receipts", &outcome)
        }
        return outcome
    }

    private func count(_ isGood: Bool, of place: String, _ outcome: inout SealVerification.Outcome) {
        if isGood { outcome.opened += 1 } else { outcome.failed[place, default: 0] += 1 }
    }
}

extension LookupOwner {
    /// Whether the text opens, and has the lookup of the first key.
    fileprivate func isFound(byFirstOf keys: LookupKeys, openedBy sealer: Sealer) -> Bool {
        (try? lookups(under: keys, openedBy: sealer)).map { lookups.contains($0[0]) } ?? false
    }
}

/// The most rows that one statement reads.
private let pageSize = 500

extension LookupRepository {
    /// Reads all rows of a source that have lookups.
    fileprivate func forEachOwner(of source: LookupSource, _ body: (LookupOwner) async throws -> Void) async throws {
        var last: UUID?
        repeat {
            let page = try await page(of: source, after: last, limit: pageSize)
            for owner in page.owners { try await body(owner) }
            last = page.last
        } while last != nil
    }
}

extension ErasureRepository {
    /// Reads all receipts.
    fileprivate func forEachReceipt(_ body: (_ id: UUID, _ receipt: String) async throws -> Void) async throws {
        var last: UUID?
        repeat {
            let page = try await receipts(after: last, limit: pageSize)
            for (id, receipt) in page { try await body(id, receipt) }
            last = page.count < pageSize ? nil : page.last?.id
        } while last != nil
    }
}
