import RedisClient

extension EventBusError {
    init(_ error: RedisError, _ doing: String) {
        let code: Code =
            switch error.code {
            case .server(.noGroup): .groupMissing
            case .cancelled: .cancelled
            case .shutDown: .shutDown
            default: error.isRetryable ? .unavailable : .refused
            }
        self.init(code, doing, underlying: error)
    }
}
