/// Erases a service's records of a user.
public protocol UserEraser: Sendable {
    /// Erases everything that can be erased now, objects of the blob store before the rows that name them, in slices.
    ///
    /// It is called again after a failure or a crash, and when it could not erase everything. So each call starts from the beginning.
    ///
    /// - Returns: Whether nothing is left. Work under a lease is left to its holder.
    func erase(_ erasure: Erasure, _ ledger: ErasureLedger) async throws -> Bool
}
