internal import Accounts
internal import ServiceDefaults

/// Reports that notifier keeps nothing of a user: pushes in its memory are sent or skipped within their lease, and the rows of their
/// deliveries are token-registry's, which waits for them.
struct SendEraser: UserEraser {
    func erase(_ erasure: Erasure, _ ledger: ErasureLedger) async throws -> Bool { true }
}
