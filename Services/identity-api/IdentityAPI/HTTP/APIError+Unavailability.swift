internal import BlobStore
internal import PostgresClient

extension APIError {
    /// The refusal of a request that failed because a dependency is away, which says nothing about the request; nil for another cause.
    ///
    /// Whether a write took effect may be unknown; a repetition is as safe as after a lost response.
    init?(unavailability cause: any Error) {
        let isUnavailable =
            switch cause {
            case let error as PostgresError: error.fault.isUnavailability
            case let error as BlobStoreError: error.code == .unavailable
            default: false
            }
        guard isUnavailable else { return nil }
        self = .unavailable("The service cannot reach its storage at the moment", underlying: cause)
    }
}
