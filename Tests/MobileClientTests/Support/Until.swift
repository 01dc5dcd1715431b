import Foundation
import Testing

/// Waits until a condition holds. Records an issue after five minutes, or when the time limit of the suite cancels the test.
///
/// - Parameter comment: What the issue says.
func until(
    _ comment: Comment = "the condition does not come to hold", sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async rethrows {
    let end = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < end, !Task.isCancelled {
        if try await condition() { return }
        await Task.yield()
    }
    Issue.record(comment, sourceLocation: sourceLocation)
}
