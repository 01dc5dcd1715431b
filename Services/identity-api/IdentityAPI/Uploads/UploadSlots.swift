internal import Synchronization

/// Counts the uploads under way, so that memory and disk are shared by a known number of them.
final class UploadSlots: Sendable {
    private let limit: Int
    private let taken = Mutex(0)

    init(limit: Int) { self.limit = limit }

    /// Runs the body in a slot.
    ///
    /// - Throws: `overloaded` at once when all are taken; whoever waits in line here would only hold a connection.
    func withSlot<Result>(_ body: () async throws -> Result) async throws -> Result {
        let isFree = taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
        guard isFree else { throw APIError.overloaded("Too many uploads at the moment") }
        defer { taken.withLock { $0 -= 1 } }
        return try await body()
    }
}
