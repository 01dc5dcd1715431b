package import FoundationEssentials
internal import WireFormat

/// A position in a list, ordered by time and id with the newest first: after one item and before the next older one.
public struct ListCursor: Sendable, Equatable {
    /// Microseconds since 1970, the resolution of the database.
    let microseconds: Int64
    package let id: UUID

    init(microseconds: Int64, id: UUID) {
        self.microseconds = microseconds
        self.id = id
    }

    package init(after time: Date, _ id: UUID) {
        self.init(microseconds: Int64((time.timeIntervalSince1970 * 1_000_000).rounded()), id: id)
    }

    /// Parses the form of ``text``; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let microseconds = Int64(parts[0], radix: 36), (0...Self.maxMicroseconds).contains(microseconds),
            let id = UUID(wireBytes: parts[1].utf8)
        else { return nil }
        self.microseconds = microseconds
        self.id = id
    }

    /// The end of the year 9999: the last time that both the database and JSON can represent.
    private static let maxMicroseconds: Int64 = 253_402_300_799_000_000

    /// The position before all elements.
    public static let start = ListCursor(
        microseconds: maxMicroseconds, id: UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)))

    /// The position as text for a URL.
    public var text: String { String(microseconds, radix: 36) + "." + id.wireString }

    package var createdAt: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}
