import RedisClient

/// What a consumer has decided about an entry that it does not acknowledge, and has yet to tell the server.
enum Ruling: Sendable {
    case retry(DelayedRetry)
    case bury(Burial)
    case handBack(EntryID)

    var id: EntryID {
        switch self {
        case .retry(let retry): retry.id
        case .bury(let burial): burial.id
        case .handBack(let id): id
        }
    }
}

/// Rulings sorted by what has to be done.
struct Rulings {
    var retries: [DelayedRetry] = []
    var burials: [Burial] = []
    var handBacks: [EntryID] = []

    init(_ rulings: [Ruling]) {
        for ruling in rulings {
            switch ruling {
            case .retry(let retry): retries.append(retry)
            case .bury(let burial): burials.append(burial)
            case .handBack(let id): handBacks.append(id)
            }
        }
    }
}
