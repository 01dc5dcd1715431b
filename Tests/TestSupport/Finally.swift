/// Runs `body` and then `cleanUp`, also when `body` throws.
public func finally<Value>(_ cleanUp: () async -> Void, after body: () async throws -> Value) async throws -> Value {
    do {
        let value = try await body()
        await cleanUp()
        return value
    } catch {
        await cleanUp()
        throw error
    }
}
