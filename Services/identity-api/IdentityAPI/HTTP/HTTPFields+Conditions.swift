internal import HTTPTypes

extension HTTPFields {
    /// Whether `If-None-Match` has this entity tag or `*`, by weak comparison (RFC 9110 §13.1.2).
    func hasCurrent(_ tag: String) -> Bool {
        self[values: .ifNoneMatch].contains { value in
            value.split(separator: ",").map(Self.trimmed).contains { candidate in
                candidate == "*" || Self.opaque(candidate) == Self.opaque(tag[...])
            }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let start = text.drop(while: isBlank)
        return start.prefix(upTo: start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex)
    }

    private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}
