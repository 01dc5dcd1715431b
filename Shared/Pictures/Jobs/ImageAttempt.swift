public import FoundationEssentials
internal import PostgresClient

/// One call of a generator: a row of `image_attempts`, written before the call is made.
public struct ImageAttempt: Sendable, Equatable {
    /// The outcome of a call.
    public enum Outcome: Sendable, Equatable {
        /// The generator returned a picture, which is stored under `rawKey`.
        case generated(rawKey: String, modelUsed: String, durationMs: Int?)
        /// The generator refused the picture or the request permanently.
        case refused
        /// The generator answered without a picture.
        case noImage
        /// It is unknown whether the generator did its work: no answer arrived, or an unreadable one.
        case unclear
        /// The generator did no work, and the call costs nothing: it was rejected, or did not reach the generator.
        case free
    }

    /// Counted from 1 within the job.
    public let number: Int
    /// The generator that was called.
    public let generator: String
    /// The outcome; `nil` while the call runs, and when the worker crashed during it.
    public let outcome: Outcome?
    /// When the row was written, just before the call.
    public let startedAt: Date
    /// When the outcome was recorded; `nil` without an outcome.
    public let finishedAt: Date?

    init(row: PostgresRow) throws(PostgresError) {
        number = try row.decode("number")
        generator = try row.decode("generator")
        startedAt = try row.decode("started_at")
        finishedAt = try row.decode("finished_at")
        outcome =
            switch try row.decode("outcome", as: String?.self) {
            case nil: nil
            case "generated":
                .generated(
                    rawKey: try row.decode("raw_key"), modelUsed: try row.decode("model_used"),
                    durationMs: try row.decode("duration_ms"))
            case "refused": .refused
            case "no_image": .noImage
            case "unclear": .unclear
            case "free": .free
            case let other?: throw PostgresError(code: .decoding, message: "unknown outcome \(other.prefix(40)) of an attempt")
            }
    }
}

extension ImageAttempt.Outcome {
    /// The value of the database column.
    public var name: String {
        switch self {
        case .generated: "generated"
        case .refused: "refused"
        case .noImage: "no_image"
        case .unclear: "unclear"
        case .free: "free"
        }
    }
}

/// Limits on generator calls for one job.
public struct ImageAttemptLimits: Sendable {
    /// The most calls that cost something, or may have: a first one and two more after answers without a picture.
    public var maxPaidAttempts = 3
    /// The most calls of any kind, including those that were rejected.
    public var maxAttempts = 12

    /// The defaults.
    public init() {}
}
