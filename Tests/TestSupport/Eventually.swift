/// Thrown by ``eventually(within:_:_:)`` when the condition did not come true in time.
public struct DeadlineExceeded: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
}

/// Waits until `condition` gives a value; for what offers no signal to wait for, such as another process' state.
///
/// - Parameters:
///   - limit: Ends only what hangs: nothing is asserted by it, so it leaves time for a machine that is busy with other work.
///   - what: For the error, made when that is thrown: the end of a log in it is the end then.
/// - Throws: ``DeadlineExceeded`` after `limit`, or what `condition` throws.
@discardableResult
public func eventually<Value>(
    within limit: Duration = .seconds(120), _ what: @autoclosure () -> String, _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        if let value = try await condition() { return value }
        guard ContinuousClock.now < deadline else {
            throw DeadlineExceeded(description: "not within \(limit): \(what())")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Waits until `condition` is true.
public func eventually(
    within limit: Duration = .seconds(120), _ what: @autoclosure () -> String, isTrue condition: () async throws -> Bool
) async throws {
    try await eventually(within: limit, what()) { try await condition() ? () : nil }
}
