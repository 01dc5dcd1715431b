/// The settlement of an entry that is not acknowledged, yet to be applied on the server.
enum Disposition: Sendable {
    case retry(DelayedRetry)
    case deadLetter(NewDeadLetter)
    case release(EntryID)

    var id: EntryID {
        switch self {
        case .retry(let retry): retry.id
        case .deadLetter(let letter): letter.entryID
        case .release(let id): id
        }
    }
}

/// Dispositions grouped by their kind.
struct Dispositions {
    var retries: [DelayedRetry] = []
    var deadLetters: [NewDeadLetter] = []
    var releases: [EntryID] = []

    init(_ dispositions: [Disposition]) {
        for disposition in dispositions {
            switch disposition {
            case .retry(let retry): retries.append(retry)
            case .deadLetter(let letter): deadLetters.append(letter)
            case .release(let id): releases.append(id)
            }
        }
    }
}
