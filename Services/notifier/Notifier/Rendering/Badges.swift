internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Storage
internal import WireFormat

/// The numbers on the icons of apps: what each user has not seen yet, counted just before the pushes leave.
struct Badges: Sendable {
    private var counts: [UUID: Int]?

    /// Counts for the users of a batch, with one query. Without a database there are no numbers, and the pushes go all the same.
    static func count(for deliveries: [ClaimedDelivery], _ postgres: PostgresClient, logger: Logger) async -> Badges {
        let users = Set(deliveries.filter { $0.notification.kind.hasBadge }.compactMap { $0.target?.userID })
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
        guard delivery.notification.kind.hasBadge, let user = delivery.target?.userID, let counts else { return nil }
        return counts[user] ?? 0
    }
}

extension NotificationKind {
    /// Whether what it tells stays unseen until the app is opened. A face session is looked at while it is decided. An invitation
    /// changes no number: a stranger must not reach the icon of a phone.
    fileprivate var hasBadge: Bool {
        switch self {
        case .jobCompleted, .jobFailed, .newPhotos, .chatMessage: true
        case .signUp, .signIn, .invitation: false
        }
    }
}
