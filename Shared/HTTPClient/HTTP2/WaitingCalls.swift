internal import DequeModule

/// The calls that wait for room on a connection: urgent ones first, each kind in order of arrival.
struct WaitingCalls {
    private var urgent = Deque<Call>()
    private var others = Deque<Call>()

    var isEmpty: Bool { urgent.isEmpty && others.isEmpty }

    mutating func append(_ call: Call) {
        if call.isUrgent { urgent.append(call) } else { others.append(call) }
    }

    /// Returns the next call that may start on a connection of a use.
    func first(for use: HTTP2Connection.Use) -> Call? {
        urgent.first ?? (use == .allCalls ? others.first : nil)
    }

    /// Removes the call that ``first(for:)`` returns.
    mutating func removeFirst(for use: HTTP2Connection.Use) {
        if urgent.popFirst() == nil, use == .allCalls { others.removeFirst() }
    }

    /// Removes and returns the next call.
    mutating func popFirst() -> Call? { urgent.popFirst() ?? others.popFirst() }

    /// Removes the first calls that have ended.
    mutating func dropEnded() {
        while urgent.first?.isEnded == true { urgent.removeFirst() }
        while others.first?.isEnded == true { others.removeFirst() }
    }
}
