public import FoundationEssentials
internal import PostgresClient

/// A face by its number: of an account, or of a sign-up that waits for its proof.
public struct NumberedFace: Sendable, Equatable {
    /// The number, which stands for this face only.
    public let number: Int64
    /// The account, or the id that it gets.
    public let userID: UUID
    /// The descriptors, sealed with `SealingContext.faceTemplate`.
    public let templateSealed: [UInt8]
    /// Whether it waits for a proof or a recovery; otherwise it is the face of an account.
    public let isWaiting: Bool

    init(row: PostgresRow) throws(PostgresError) {
        number = try row.decode("number")
        userID = try row.decode("user_id")
        templateSealed = try row.decode("template_sealed")
        isWaiting = try row.decode("is_waiting")
    }
}

/// The faces of one network and pipeline, which are comparable.
public struct FaceModel: Sendable {
    let id: String
    let pipelineVersion: Int32

    /// Names a network and the version of the steps before it.
    public init(id: String, pipelineVersion: Int) {
        self.id = id
        self.pipelineVersion = Int32(pipelineVersion)
    }
}

/// The position of a reader of the faces: it continues from here.
public struct FacePosition: Sendable, Equatable {
    /// The oldest transaction that was running.
    public let oldestRunning: Int64
    /// The numbers that were seen of transactions since then, which are read again.
    public let seen: Set<Int64>

    /// Names a position.
    public init(oldestRunning: Int64, seen: Set<Int64>) {
        self.oldestRunning = oldestRunning
        self.seen = seen
    }
}

/// The changes since a position.
public struct FaceChanges: Sendable {
    /// The numbers of added faces; the reader may have some of them.
    public let added: [Int64]
    /// The numbers of faces that have gone.
    public let removed: [Int64]
    /// Where the next look goes on.
    public let position: FacePosition
    /// Whether the database was replaced or restored to an earlier state: the reader has to read all faces again.
    public let isReset: Bool
}
