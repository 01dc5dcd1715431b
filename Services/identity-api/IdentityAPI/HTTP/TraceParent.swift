/// The W3C `traceparent` header, which goes on with the event the request causes.
enum TraceParent {
    /// Returns the header's value when it has the shape of version 00; anything else is as good as none.
    static func checked(_ value: String) -> String? {
        let lengths = [2, 32, 16, 2]
        let parts = value.split(separator: "-", omittingEmptySubsequences: false)
        let isHex = parts.allSatisfy { part in
            part.utf8.allSatisfy { ("0123456789abcdef".utf8).contains($0) }
        }
        return isHex && parts.map(\.utf8.count) == lengths ? value : nil
    }
}
