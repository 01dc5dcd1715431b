internal import HTTPTypes

extension HTTPFields {
    /// Whether `Accept` names `application/problem+json` (RFC 9457) with a weight above zero.
    var acceptProblems: Bool {
        self[values: .accept].flatMap { $0.lowercased().split(separator: ",") }.contains { range in
            let parts = range.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            guard parts.first == "application/problem+json" else { return false }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            return weight.flatMap { Double($0) } ?? 1 > 0
        }
    }
}
