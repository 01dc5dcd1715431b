/// Runs `operation` `count` times concurrently, and returns the results.
@discardableResult
public func race<Result: Sendable>(
    _ count: Int, _ operation: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: Result.self) { group in
        for index in 0..<count { group.addTask { try await operation(index) } }
        var results: [Result] = []
        for try await result in group { results.append(result) }
        return results
    }
}
