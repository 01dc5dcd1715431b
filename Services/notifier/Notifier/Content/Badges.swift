internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Push
internal import Topics
internal import WireFormat

/// The badge numbers of app icons: each user's unseen items, counted just before the pushes are sent.
struct Badges: Sendable {
    private var counts: [UUID: Int]?

    /// Counts the unseen items of a batch's users, with one query. Without a database there are no numbers, and the pushes are sent
    /// without them.
    static func count(for deliveries: [ClaimedDelivery], _ postgres: PostgresClient, logger: Logger) async -> Badges {
        let users = Set(deliveries.filter { $0.notification.kind.type.hasBadge }.compactMap { $0.target?.userID })
        guard !users.isEmpty else { return Badges(counts: [:]) }
        do {
            return Badges(counts: try await UnreadRepository(postgres).totals(userIDs: Array(users)))
        } catch {
            logger.warning("badges not counted", metadata: ["error": "\(error)"])
            return Badges(counts: nil)
        }
    }

    /// The number for a push; nil leaves the icon as it is.
    subscript(delivery: ClaimedDelivery) -> Int? {
        guard delivery.notification.kind.type.hasBadge, let user = delivery.target?.userID, let counts else { return nil }
        return counts[user] ?? 0
    }
}
