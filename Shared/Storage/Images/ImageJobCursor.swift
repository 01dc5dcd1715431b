internal import FoundationEssentials
internal import WireFormat

/// A place in a user's list of jobs: just before the next older one.
public struct ImageJobCursor: Sendable, Equatable {
    /// Microseconds since 1970, which is how exact the database is.
    let microseconds: Int64
    let id: UUID

    /// The place after a job.
    public init(after job: ImageJob) {
        microseconds = Int64((job.createdAt.timeIntervalSince1970 * 1_000_000).rounded())
        id = job.id
    }

    /// Reads what ``text`` gave; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let microseconds = Int64(parts[0], radix: 36), (0...Self.microsecondsMax).contains(microseconds),
            let id = UUID(uuidString: String(parts[1]))
        else { return nil }
        self.microseconds = microseconds
        self.id = id
    }

    /// The year 9999: what the database and JSON both can say.
    private static let microsecondsMax: Int64 = 253_402_300_799_000_000

    /// The place as text for a URL.
    public var text: String { String(microseconds, radix: 36) + "." + id.wireString }

    var createdAt: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}
