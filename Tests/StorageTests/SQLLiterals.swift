/// The string literals of a Swift source, and their parts of SQL as patterns of what Postgres records of them.
enum SQLLiterals {
    /// What stands for an interpolated value, which Postgres gets as a parameter.
    private static let value: UInt8 = 1
    /// What stands for an interpolated text, which is a part of the statement.
    private static let text: UInt8 = 2

    /// Returns the patterns of the literals that are a statement, and, with `parts`, also of those that are a part of one.
    static func patterns(in source: String, parts: Bool) -> [StatementPattern] {
        literals(in: Array(source.utf8)[...]).compactMap { literal, isWhole in
            let words = literal.split { !(0x41...0x5A).contains($0) && !(0x61...0x7A).contains($0) && $0 != 0x5F }
                .map { String(decoding: $0, as: UTF8.self) }
            guard words.first.map(verbs.contains) ?? false || parts && !keywords.isDisjoint(with: words) else { return nil }
            // In a text that is no statement yet an interpolation is text, too.
            let marked = literal.map { $0 == value && !isWhole ? text : $0 }
            let pieces = SQLText.normalised(marked).utf8.split(separator: text, omittingEmptySubsequences: false)
            return StatementPattern(isWhole: isWhole, parts: pieces.map { $0.trimmed() })
        }
    }

    /// What stands before a literal that is a statement.
    private static let beginnings = [".query(", ".execute(", ".enqueue(", "PostgresQuery ="]
    private static let verbs: Set<String> = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "LOCK", "NOTIFY", "SET", "TRUNCATE", "COPY"]
    private static let keywords: Set<String> = [
        "SELECT", "FROM", "WHERE", "AND", "OR", "JOIN", "RETURNING", "ORDER", "LIMIT", "FOR", "UPDATE", "USING", "VALUES", "EXISTS",
        "UNION",
        "CASE", "IN", "IS", "NOT", "ANY", "AS",
    ]

    /// Returns the contents of all literals, of those within interpolations too, with ``value`` or ``text`` for each interpolation, and
    /// whether each is a statement by what stands before it.
    private static func literals(in source: ArraySlice<UInt8>) -> [(content: [UInt8], isWhole: Bool)] {
        var (found, index): ([([UInt8], Bool)], Int) = ([], source.startIndex)
        while let start = source[index...].firstIndex(of: 0x22) {
            let quotes = source[start...].starts(with: [0x22, 0x22, 0x22]) ? 3 : 1
            index = start + quotes
            var literal: [UInt8] = []
            while index < source.endIndex, !source[index...].starts(with: repeatElement(0x22, count: quotes)) {
                guard source[index] == 0x5C, index + 1 < source.endIndex else {
                    literal.append(source[index])
                    index += 1
                    continue
                }
                index += 2
                switch source[index - 1] {
                case 0x28:
                    let end = endOfInterpolation(source[index...])
                    let content = source[index..<end]
                    literal.append(["unescaped:", "identifier:"].contains { content.starts(with: $0.utf8) } ? text : value)
                    found += literals(in: content)
                    index = min(end + 1, source.endIndex)
                case 0x0A: index = source[index...].firstIndex { $0 != 0x20 } ?? source.endIndex
                case 0x6E: literal.append(0x20)
                case let escaped: literal.append(escaped)
                }
            }
            let before = source[..<start].reversed().drop { $0 == 0x20 || $0 == 0x0A }
            found.append((literal, beginnings.contains { before.starts(with: $0.utf8.reversed()) }))
            index = min(index + quotes, source.endIndex)
        }
        return found
    }

    /// Returns the index of the parenthesis that closes an interpolation.
    private static func endOfInterpolation(_ source: ArraySlice<UInt8>) -> Int {
        var (depth, isQuoted) = (1, false)
        for index in source.indices {
            switch source[index] {
            case 0x22: isQuoted.toggle()
            case 0x28 where !isQuoted: depth += 1
            case 0x29 where !isQuoted: depth -= 1
            default: break
            }
            if depth == 0 { return index }
        }
        return source.endIndex
    }
}

/// A statement of the sources, or a part of one.
struct StatementPattern: CustomStringConvertible {
    /// Whether it begins a statement, and ends it.
    let isWhole: Bool
    /// What is between the interpolations that are text.
    let parts: [String]

    var description: String { parts.joined(separator: "…") }

    /// Returns whether a recorded statement can have been made from the text.
    func matches(_ statement: String) -> Bool {
        guard isWhole else { return Self.firstMatch(of: parts[...], in: statement[...]) != nil }
        guard statement.hasPrefix(parts[0]), parts.count > 1 else { return statement == parts[0] }
        guard let rest = Self.firstMatch(of: parts.dropFirst().dropLast(), in: statement.dropFirst(parts[0].count)) else { return false }
        return rest.hasSuffix(parts[parts.count - 1])
    }

    /// Returns what is left of a statement after the parts, in their order.
    private static func firstMatch(of parts: ArraySlice<String>, in statement: Substring) -> Substring? {
        var rest = statement
        for part in parts where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return nil }
            rest = rest[range.upperBound...]
        }
        return rest
    }
}

extension Substring.UTF8View {
    /// Without the spaces at its ends: a text that is interpolated there may be empty, or have them.
    fileprivate func trimmed() -> String {
        let rest = drop { $0 == 0x20 }
        return String(Substring(rest.dropLast(rest.reversed().prefix { $0 == 0x20 }.count)))
    }
}
