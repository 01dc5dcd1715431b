internal import HTTPTypes
internal import Hummingbird

extension Request {
    /// Whether `If-None-Match` has this entity tag or `*`, by weak comparison (RFC 9110 §13.1.2).
    func hasCurrent(_ tag: String) -> Bool {
        headers[values: .ifNoneMatch].contains { value in
            value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }.contains { candidate in
                candidate == "*" || Self.opaque(candidate) == Self.opaque(tag)
            }
        }
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
