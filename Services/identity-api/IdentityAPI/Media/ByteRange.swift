/// The part of a file that a client requests (RFC 9110 §14).
enum ByteRange: Equatable {
    /// The whole file: the request has no `Range`, or a `Range` that a server may ignore.
    case whole
    /// These bytes.
    case part(Range<Int>)
    /// Bytes that the file does not have.
    case unsatisfiable

    /// Parses the value of `Range` for a file of `count` bytes. Multiple ranges are ignored, as the RFC allows.
    init(_ value: String?, of count: Int) {
        self = .whole
        guard let value, value.lowercased().hasPrefix("bytes=") else { return }
        let spec = value.dropFirst("bytes=".count).filter { $0 != " " && $0 != "\t" }
        let parts = spec.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !spec.contains(","), parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else { return }
        switch (Int(parts[0]), Int(parts[1])) {
        case (nil, let suffix?) where parts[0].isEmpty:
            self = suffix > 0 && count > 0 ? .part(max(0, count - suffix)..<count) : .unsatisfiable
        case (let first?, nil) where parts[1].isEmpty:
            self = first < count ? .part(first..<count) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < count ? .part(first..<min(last, count - 1) + 1) : .unsatisfiable
        default:
            break
        }
    }
}
