public import FoundationEssentials
internal import PostgresClient

/// One call of a generator: a row of `image_attempts`, written before the call is made.
public struct ImageAttempt: Sendable, Equatable {
    /// How a call ended.
    public enum Outcome: Sendable, Equatable {
        /// It gave a picture, which is stored under `rawKey`.
        case generated(rawKey: String, modelUsed: String, durationMs: Int?)
        /// It refused the picture, or the request, for good.
        case refused
        /// It answered without a picture.
        case noImage
        /// Nobody knows whether it did its work: no answer came, or none that can be read.
        case unclear
        /// It did no work, and costs nothing: turned away, or never reached.
        case free
    }

    /// Counted from 1 within the job.
    public let number: Int
    /// The generator that was called.
    public let generator: String
    /// How it ended; `nil` while it runs, and when the worker died meanwhile.
    public let outcome: Outcome?
    /// When it was written, just before the call.
    public let startedAt: Date
    /// When its end was noted; `nil` with `outcome`.
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
            case let other?: throw PostgresError(code: .decoding, message: "an attempt has the outcome \(other.prefix(40))")
            }
    }
}

extension ImageAttempt.Outcome {
    /// A short word for it, as the database has it.
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

/// How often generators may be called for one job.
public struct ImageAttemptLimits: Sendable {
    /// The most calls that cost something, or may have: a first one and two more after answers without a picture.
    public var paidMax = 3
    /// The most calls of all, those included that were turned away.
    public var totalMax = 12

    /// The defaults.
    public init() {}
}
