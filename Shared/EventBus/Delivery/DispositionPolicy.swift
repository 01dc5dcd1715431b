import AsyncPrimitives

/// Decides the disposition of a delivered entry, before it is handled and by the result of its handling. Without input or output.
struct DispositionPolicy: Sendable {
    /// The disposition of an entry.
    enum Decision: Sendable, Equatable {
        /// Its effect is committed, or it is not for this group.
        case acknowledge
        /// It failed in a batch, and any entry of the batch may be the cause: each is handled alone.
        case handleAlone
        case retry(RetryCause, failures: Int, delay: Duration)
        case deadLetter(DeadLetterReason, failures: Int)
        /// It was not begun, or its handler was cancelled: it goes to another consumer, and this delivery does not count.
        case release
    }

    /// The cause of a retry.
    enum RetryCause: Sendable {
        /// The handler asked for it.
        case deferral
        /// A dependency of the handler was unavailable.
        case outage
        /// The handler failed; only this counts towards ``RetryPolicy/maxFailures``.
        case failure
    }

    /// The circumstances of a unit of work.
    struct Circumstances: Sendable {
        /// The number of entries that were handled together.
        var unitCount = 1
        /// Whether the consumer drains.
        var isStopping = false
        /// Whether the worker was cancelled.
        var isCancelled = false
    }

    /// The group of the consumer.
    let group: String
    let retryPolicy: RetryPolicy

    /// Returns the decision on an entry that is not to be handled; nil when it is.
    func decision(onUnhandled entry: DeliveredEntry) -> Decision? {
        if let only = entry.onlyGroups, !only.contains(group) { return .acknowledge }
        return entry.crashes >= retryPolicy.maxCrashes ? .deadLetter(.crashes, failures: entry.failures) : nil
    }

    /// Returns the decision on an entry that was handled with this result.
    ///
    /// - Parameter random: Returns a number from 0 to 1; 0 makes the longest delay.
    func decision(
        on entry: DeliveredEntry, _ result: ProcessingResult, _ circumstances: Circumstances,
        random: () -> Double = { .random(in: 0...1) }
    ) -> Decision {
        switch result {
        case .handled, .duplicate: .acknowledge
        case .unreadable: .deadLetter(.unreadable, failures: entry.failures)
        case .failed(let error): decision(on: entry, error, circumstances, random)
        }
    }

    private func decision(
        on entry: DeliveredEntry, _ error: any Error, _ circumstances: Circumstances, _ random: () -> Double
    ) -> Decision {
        if circumstances.isStopping {
            if circumstances.isCancelled || error is CancellationError { return .release }
        } else if circumstances.unitCount > 1, RetryPolicy.isAmbiguousInBatch(error) {
            return .handleAlone
        }
        if let deferral = error as? HandlerDeferral { return .retry(.deferral, failures: entry.failures, delay: deferral.delay) }
        if error.isDependencyUnavailable {
            return .retry(.outage, failures: entry.failures, delay: retryPolicy.outageDelay - retryPolicy.outageDelay * 4 / 5 * random())
        }
        let failures = entry.failures + 1
        if failures >= retryPolicy.maxFailures { return .deadLetter(.failures, failures: failures) }
        return .retry(.failure, failures: failures, delay: retryPolicy.delay(afterFailures: failures, random: random()))
    }
}
