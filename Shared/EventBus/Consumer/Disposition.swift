import RedisClient

/// What a consumer has decided about an entry that it does not acknowledge, and has yet to tell the server.
enum Disposition: Sendable {
    case retry(DelayedRetry)
    case deadLetter(DeadLetterRequest)
    case release(EntryID)

    var id: EntryID {
        switch self {
        case .retry(let retry): retry.id
        case .deadLetter(let request): request.id
        case .release(let id): id
        }
    }
}

/// Dispositions sorted by what has to be done.
struct Dispositions {
    var retries: [DelayedRetry] = []
    var deadLetterRequests: [DeadLetterRequest] = []
    var releases: [EntryID] = []

    init(_ dispositions: [Disposition]) {
        for disposition in dispositions {
            switch disposition {
            case .retry(let retry): retries.append(retry)
            case .deadLetter(let request): deadLetterRequests.append(request)
            case .release(let id): releases.append(id)
            }
        }
    }
}
