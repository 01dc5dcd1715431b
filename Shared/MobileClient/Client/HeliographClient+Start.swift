internal import Foundation

extension HeliographClient.Parts {
    /// Starts all parts, and removes data that is older than 24 hours. If a part fails to start, the others still start. Its own data is
    /// not swept, because the app has not been told of the outcomes in it.
    ///
    /// - Throws: The first error.
    func start() async throws(HeliographError) {
        await followSignIn()
        let steps: [Step] = [
            { [uploads] () async throws(HeliographError) in try await uploads.start() },
            { [tracker, jobStore] () async throws(HeliographError) in
                try await tracker.start()
                try await Self.sweep(jobStore)
            },
            { [sessions, sessionStore] () async throws(HeliographError) in
                try await sessions.start()
                try await Self.sweep(sessionStore)
            },
            { [registrar] () async throws(HeliographError) in await registrar.start() },
            { [uploads] () async throws(HeliographError) in try await uploads.sweep() },
            { [push] () async throws(HeliographError) in await push.flush() },
        ]
        try await Self.performAll(steps)
    }

    typealias Step = @Sendable () async throws(HeliographError) -> Void

    /// Performs all steps, including the steps after a failed one.
    ///
    /// - Throws: The first error.
    static func performAll(_ steps: [Step]) async throws(HeliographError) {
        var first: HeliographError?
        for step in steps {
            do throws(HeliographError) { try await step() } catch { first = first ?? error }
        }
        if let first { throw first }
    }

    private static func sweep(_ store: PendingTaskStore) async throws(HeliographError) {
        try await store.sweep(olderThan: .seconds(BackgroundUploadReducer.Limits.age))
    }
}
