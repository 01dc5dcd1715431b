/// Decides when a notification is handed back to the system, with or without its picture: exactly once, whichever of the download, the time
/// limit and the system's own end comes first.
enum ContentLoaderReducer: Reducer {
    enum Phase: Hashable, Sendable {
        case idle
        /// The picture with this number is on its way.
        case loading(Int)
        case delivered
    }

    struct State: Hashable, Sendable {
        var phase = Phase.idle
        /// How many pictures there are to try.
        var candidates: Int

        init(candidates: Int) { self.candidates = candidates }
    }

    enum Event: Hashable, Sendable {
        case started
        /// The file of this picture is complete.
        case downloaded(Int)
        /// The picture cannot be loaded, or the file is not a picture. The file does not exist, or is incomplete.
        case failed(Int)
        /// The limit is reached, or the system ends the extension.
        case timeUp
        /// The system did not take the file of a picture that was delivered.
        case rejected(Int)
    }

    enum Effect: Hashable, Sendable {
        case startTimer
        case stopTimer
        case download(Int)
        case cancel(Int)
        /// Hands the notification back, with this picture or with its text alone.
        case deliver(Int?)
        case removeFile(Int)
    }

    static func reduce(_ state: inout State, _ event: Event) -> [Effect] {
        switch (event, state.phase) {
        case (.started, .idle):
            guard state.candidates > 0 else { return deliver(&state, nil) }
            state.phase = .loading(0)
            return [.startTimer, .download(0)]
        case (.downloaded(let number), .loading(let current)) where number == current: return deliver(&state, number) + [.stopTimer]
        case (.downloaded(let number), _):
            // Too late: the text is on the screen.
            return [.removeFile(number)]
        case (.failed(let number), .loading(let current)) where number == current:
            guard number + 1 < state.candidates else { return deliver(&state, nil) + [.stopTimer, .removeFile(number)] }
            state.phase = .loading(number + 1)
            return [.removeFile(number), .download(number + 1)]
        case (.failed(let number), _): return [.removeFile(number)]
        case (.timeUp, .idle): return deliver(&state, nil)
        case (.timeUp, .loading(let number)): return deliver(&state, nil) + [.stopTimer, .cancel(number)]
        case (.rejected(let number), _): return [.removeFile(number)]
        case (.started, _), (.timeUp, .delivered): return []
        }
    }

    private static func deliver(_ state: inout State, _ number: Int?) -> [Effect] {
        state.phase = .delivered
        return [.deliver(number)]
    }
}
