import Foundation

/// Searches what an installation stores for texts that belong to a person.
public struct PersonSearch: Sendable {
    /// The texts, such as an account's id or an e-mail.
    public let needles: [String]

    public init(_ needles: [String]) {
        self.needles = needles
    }

    /// Returns the tables, keys of Redis, files and logs that have one of the texts.
    public func places(in stack: Stack) async throws -> [String] {
        try await tables(of: stack) + keys(of: stack.redis) + logs(of: stack)
    }

    /// Rows are searched as text, in which bytes are hexadecimal: so an id is looked for without its hyphens as well.
    private func tables(of stack: Stack) async throws -> [String] {
        let names = try await stack.database.psql(
            "SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1")
        let texts = needles.flatMap { [$0, $0.replacingOccurrences(of: "-", with: ""), Self.hex(of: $0)] }
        let condition = texts.map { "t::text ILIKE '%\($0)%'" }.joined(separator: " OR ")
        let queries = names.split(separator: "\n").map { "SELECT '\($0)' WHERE EXISTS (SELECT FROM \($0) t WHERE \(condition))" }
        return try await stack.database.psql(queries.joined(separator: " UNION ALL ")).split(separator: "\n").map(String.init)
    }

    private func keys(of redis: RedisServer) async throws -> [String] {
        var found: [String] = []
        for key in try await redis.cli("--scan").split(separator: "\n").map(String.init) {
            let content =
                switch try await redis.cli("--raw", "TYPE", key).trimmingCharacters(in: .whitespacesAndNewlines) {
                case "stream": try await redis.cli("--raw", "XRANGE", key, "-", "+")
                case "hash": try await redis.cli("--raw", "HGETALL", key)
                case "zset": try await redis.cli("--raw", "ZRANGE", key, "0", "-1")
                case "set": try await redis.cli("--raw", "SMEMBERS", key)
                case "list": try await redis.cli("--raw", "LRANGE", key, "0", "-1")
                default: try await redis.cli("--raw", "GET", key)
                }
            if has(key) || has(content) { found.append(key) }
        }
        return found
    }

    private func logs(of stack: Stack) -> [String] {
        Stack.services.filter { has(stack.tail(of: $0, lines: .max)) }.map { "log of \($0)" }
    }

    private func has(_ text: String) -> Bool { needles.contains { text.localizedCaseInsensitiveContains($0) } }

    private static func hex(of text: String) -> String { text.utf8.map { String(format: "%02x", $0) }.joined() }
}
