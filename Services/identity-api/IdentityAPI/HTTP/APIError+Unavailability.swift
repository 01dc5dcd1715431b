internal import AsyncPrimitives

extension APIError {
    /// The refusal of a request that failed because a dependency is away, which says nothing about the request; nil for another cause.
    ///
    /// Whether a write took effect may be unknown; a repetition is as safe as after a lost response.
    init?(unavailability cause: any Error) {
        guard cause.isDependencyUnavailable else { return nil }
        self = .unavailable("The service cannot reach its storage at the moment", underlying: cause)
    }
}
