/// Limits the number of requests at a time, first come, first served: a thousand jobs at a launch must not open a thousand connections.
actor RequestGate {
    private let limit: Int
    private var inside = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// The first of `waiting` that has not been let in, so that letting one in costs the same whatever waits.
    private var next = 0

    init(limit: Int) { self.limit = limit }

    /// Runs a body when it is its turn. A cancelled task keeps its turn, and its body sees that it is cancelled.
    func run<Result: Sendable>(_ body: @Sendable () async -> Result) async -> Result {
        if inside < limit { inside += 1 } else { await withCheckedContinuation { waiting.append($0) } }
        let result = await body()
        leave()
        return result
    }

    private func leave() {
        guard next < waiting.count else {
            inside -= 1
            return
        }
        let first = waiting[next]
        next += 1
        if next == waiting.count { (waiting, next) = ([], 0) }
        first.resume()
    }
}
