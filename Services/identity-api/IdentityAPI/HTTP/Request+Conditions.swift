internal import HTTPTypes
internal import Hummingbird

extension Request {
    /// Whether the client says that it has what this tag stands for (`If-None-Match`, RFC 9110 §13.1.2, which compares weakly).
    func hasCurrent(_ tag: String) -> Bool {
        headers[values: .ifNoneMatch].contains { value in
            value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }.contains { candidate in
                candidate == "*" || Self.opaque(candidate) == Self.opaque(tag)
            }
        }
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
