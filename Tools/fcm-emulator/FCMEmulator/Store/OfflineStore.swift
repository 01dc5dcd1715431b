import FoundationEssentials

/// The messages that FCM keeps for an Android phone that is offline: up to 100 that do not collapse, and the newest of each of
/// four collapse keys.
struct OfflineStore: Sendable, Equatable {
    /// One waiting message.
    struct Message: Sendable, Equatable {
        /// Its number in the inbox.
        let number: Int
        /// Only the newest message of a key is kept; a message without a key never collapses.
        let collapseKey: String?
        /// The time from which the message is not delivered any more.
        let expiresAt: Date
    }

    /// Maximum number of messages without a key; a further message drops all of them.
    static let maxMessages = 100
    /// Maximum number of different keys. FCM does not document which key it drops for a fifth; here it is the oldest.
    static let maxCollapseKeys = 4
    /// Lifetime of a message without a `ttl`, in seconds: four weeks.
    static let defaultLifetimeSeconds = 2_419_200.0

    private(set) var messages: [Message] = []
    /// Whether messages were dropped because there were too many; the app learns it through `onDeletedMessages`.
    private(set) var hasOverflowed = false

    mutating func add(_ message: Message) {
        if let key = message.collapseKey {
            messages.removeAll { $0.collapseKey == key }
            let keys = messages.filter { $0.collapseKey != nil }
            if keys.count >= Self.maxCollapseKeys { messages.removeAll { $0.number == keys[0].number } }
        } else if messages.count(where: { $0.collapseKey == nil }) >= Self.maxMessages {
            messages.removeAll { $0.collapseKey == nil }
            hasOverflowed = true
            return
        }
        messages.append(message)
    }

    /// The numbers of the messages that a phone receives when it reconnects at that time, in the order they were sent.
    func deliverable(at now: Date) -> [Int] { messages.filter { $0.expiresAt > now }.map(\.number) }
}
