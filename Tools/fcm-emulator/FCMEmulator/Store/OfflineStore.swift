import FoundationEssentials

/// What FCM keeps for an Android phone that is offline: up to 100 messages that do not collapse, and the newest of each
/// of four collapse keys.
struct OfflineStore: Sendable, Equatable {
    /// One message that waits.
    struct Message: Sendable, Equatable {
        /// Its number in the inbox.
        let number: Int
        /// Only the newest of a key is kept; nil never collapses.
        let collapseKey: String?
        /// After that it is not delivered any more.
        let expiresAt: Date
    }

    /// The most messages without a key; one more, and all of them are dropped.
    static let messagesMax = 100
    /// The most different keys. FCM does not say which it gives up for a fifth; here it is the oldest.
    static let collapseKeysMax = 4
    /// How long a message waits that does not say it, in seconds: four weeks.
    static let defaultLifetimeSeconds = 2_419_200.0

    private(set) var messages: [Message] = []
    /// Whether messages were dropped for being too many, of which the app is told by `onDeletedMessages`.
    private(set) var hasOverflowed = false

    mutating func add(_ message: Message) {
        if let key = message.collapseKey {
            messages.removeAll { $0.collapseKey == key }
            let keys = messages.filter { $0.collapseKey != nil }
            if keys.count >= Self.collapseKeysMax { messages.removeAll { $0.number == keys[0].number } }
        } else if messages.count(where: { $0.collapseKey == nil }) >= Self.messagesMax {
            messages.removeAll { $0.collapseKey == nil }
            hasOverflowed = true
            return
        }
        messages.append(message)
    }

    /// The numbers of what a phone gets that comes back at that time, in the order they were sent.
    func deliverable(at now: Date) -> [Int] { messages.filter { $0.expiresAt > now }.map(\.number) }
}
