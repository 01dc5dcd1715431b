internal import HTTPClient

extension HTTPClientResponse {
    /// The time for which the answer is fresh (RFC 9111 §4.2): its `max-age` less the time for which it lay in a cache; zero without.
    var freshLifetime: Duration {
        let directives = header("Cache-Control")?.lowercased().split(separator: ",") ?? []
        for directive in directives {
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\"" } }
            guard parts.count == 2, parts[0] == "max-age", let seconds = Int32(parts[1]) else { continue }
            let age = header("Age").flatMap { Int32($0) } ?? 0
            return .seconds(max(0, Int(seconds) - max(0, Int(age))))
        }
        return .zero
    }
}
