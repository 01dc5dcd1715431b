/// What the phones show: the newest pushes as cards, each replacing the one it names.
///
/// Cards are made only when somebody looks, because a fan-out brings more pushes than anybody could.
struct CardBoard {
    /// How many unseen pushes are made into cards at a time, those before them are never shown.
    private static let catchUpMax = 2_000
    private let limit: Int
    private(set) var cards: [Card] = []
    /// The number of the first push that is no card yet.
    private var next = 0

    init(limit: Int) { self.limit = limit }

    /// Makes cards of the pushes that came since, and returns those, oldest first.
    mutating func catchUp(_ messages: Ring<KeptMessage>) -> [Card] {
        let first = max(next, messages.end - Self.catchUpMax)
        next = messages.end
        return messages.suffix(from: first).filter(\.isOnPhone).map { add($0.received) }
    }

    /// Shows a push, also one that reached its phone late.
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

    /// Takes all cards down, and those that were still to come.
    mutating func clear(_ messages: Ring<KeptMessage>) {
        cards = []
        next = messages.end
    }
}
