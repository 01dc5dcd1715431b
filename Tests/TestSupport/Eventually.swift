/// Thrown by ``eventually(within:_:_:)`` when its condition is not met in time.
public struct DeadlineExceeded: Error, CustomStringConvertible {
    /// The time limit, and the condition that was not met.
    public let description: String

    /// Creates an error for a condition that a test has waited for.
    public init(description: String) { self.description = description }
}

/// Polls `condition` until it returns a value; for conditions without a signal to wait for, such as another process' state.
///
/// - Parameters:
///   - limit: The time limit, which only ends a hanging test: it asserts nothing, so it allows for a machine that is busy with
///     other work.
///   - what: A description for the error; evaluated when that is thrown, so that it can contain the end of a log at that time.
/// - Throws: ``DeadlineExceeded`` after `limit`, or the error of `condition`.
@discardableResult
public func eventually<Value>(
    within limit: Duration = .seconds(120), _ what: @autoclosure () -> String, _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        let start = ContinuousClock.now
        if let value = try await condition() { return value }
        let now = ContinuousClock.now
        guard now < deadline else { throw DeadlineExceeded(description: "not within \(limit): \(what())") }
        // A condition that starts a process, such as psql, would otherwise take a core from those that it waits for.
        try await Task.sleep(for: min(max(.milliseconds(5), (now - start) * 2), .milliseconds(500)))
    }
}

/// Waits until `condition` is true.
public func eventually(
    within limit: Duration = .seconds(120), _ what: @autoclosure () -> String, isTrue condition: () async throws -> Bool
) async throws {
    try await eventually(within: limit, what()) { try await condition() ? () : nil }
}
