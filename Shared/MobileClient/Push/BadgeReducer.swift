/// Decides which count of unread items the app's icon shows.
///
/// Counts come in pushes and in answers of the API, and may arrive late. Of two counts with times, the later one wins; a count without a
/// time wins when it arrives. The system sets the icon to the number of each push by itself, so the winning number is set again after each
/// push.
enum BadgeReducer: Reducer {
    /// Where a count comes from. The times of one source are of one clock.
    enum Source: Hashable, Sendable {
        case push
        case answer
    }

    struct State: Hashable, Sendable {
        var count: Int?
        /// The time of the count, in milliseconds since 1970, and its clock.
        var at: Int?
        var source = Source.answer
    }

    enum Event: Hashable, Sendable {
        case counted(Int, at: Int?, Source)
        /// The account has no unread items any more.
        case signedOut
    }

    enum Effect: Hashable, Sendable {
        case show(Int)
    }

    /// The difference that the clocks of FCM and of the API may have, in milliseconds.
    static let maxSkew = 2_000

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .counted(let count, let at, let source):
            if !isOlder(at, source, than: state) {
                state.count = count
                // A count without a time does not change the known time: counts that are older than it are still older.
                if let at { (state.at, state.source) = (at, source) }
            }
            return state.count.map { [.show($0)] } ?? []
        case .signedOut:
            state = State()
            return [.show(0)]
        }
    }

    static func isOlder(_ at: Int?, _ source: Source, than state: State) -> Bool {
        guard let at, let known = state.at else { return false }
        return source == state.source ? at < known : at < known - maxSkew
    }
}
