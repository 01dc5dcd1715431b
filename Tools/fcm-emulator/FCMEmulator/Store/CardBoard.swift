/// The newest pushes as the cards that phones show; a new card replaces the card with the same id.
///
/// Cards are made only when a client reads them, because a fan-out brings more pushes than a person can look at.
struct CardBoard {
    /// Maximum number of unseen pushes made into cards at a time; older ones are never shown.
    private static let maxCatchUp = 2_000
    let limit: Int
    private(set) var cards: [Card] = []
    /// The number of the first push that has no card yet.
    private var next = 0

    init(limit: Int) { self.limit = limit }

    /// Makes cards of the pushes that arrived since the last call, and returns them, oldest first.
    mutating func catchUp(_ messages: Ring<KeptMessage>) -> [Card] {
        let first = max(next, messages.end - Self.maxCatchUp)
        next = messages.end
        return messages.suffix(from: first).filter(\.isOnPhone).map { add($0.received) }
    }

    /// Does the same with the pushes to one phone alone; `last` is the number of the newest.
    mutating func catchUp(_ messages: Ring<KeptMessage>, toPhoneOf last: Int?) -> [Card] {
        let new = messages.chain(from: last, downTo: next).prefix(Self.maxCatchUp).reversed()
        next = messages.end
        return new.filter(\.isOnPhone).map { add($0.received) }
    }

    /// Adds the card of a push, even if it reached its phone late.
    mutating func add(_ message: ReceivedMessage) -> Card {
        var card = Card(message)
        if let index = cards.firstIndex(where: { $0.id == card.id }) {
            card.replaced = cards[index].replaced + 1
            cards.remove(at: index)
        }
        cards.append(card)
        if cards.count > limit { cards.removeFirst(cards.count - limit) }
        return card
    }

    /// Removes all cards, and skips the pushes that have no card yet.
    mutating func clear(_ messages: Ring<KeptMessage>) {
        cards = []
        next = messages.end
    }
}
