internal import Logging

/// Deletes what is due, each by itself, until nothing more is, or nothing of a batch could be: what cannot be deleted now waits
/// for the next sweep, and nothing else waits with it.
///
/// - Parameters:
///   - what: What the log says, with a count, when something was deleted.
///   - due: Returns at most as many as it is asked for; again those that could not be deleted.
///   - delete: Whether one is deleted.
func deleteInBatches<Item>(
    _ what: Logger.Message, logger: Logger, due: (_ limit: Int) async throws -> [Item], delete: (Item) async -> Bool
) async throws {
    let batchSize = 100
    while true {
        let items = try await due(batchSize)
        var count = 0
        for item in items {
            try Task.checkCancellation()
            if await delete(item) { count += 1 }
        }
        if count > 0 { logger.info(what, metadata: ["count": "\(count)"]) }
        guard items.count == batchSize, count > 0 else { return }
    }
}
