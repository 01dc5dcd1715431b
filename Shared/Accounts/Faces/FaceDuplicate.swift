public import FoundationEssentials
internal import PostgresClient

/// Two accounts with the same face as it seems: a row of `face_duplicates`.
public struct FaceDuplicate: Sendable, Equatable {
    /// The state; `resolved` is final.
    public enum State: String, Sendable, CaseIterable {
        case open
        /// An operator has decided that both may stay as they are.
        case resolved
    }

    /// The id.
    public let id: UUID
    /// The account whose sign-up revealed the pair.
    public let userID: UUID
    /// The account that had the face.
    public let otherID: UUID
    /// The state.
    public let state: State
    /// When it was found.
    public let foundAt: Date
    /// When an operator resolved it.
    public let resolvedAt: Date?

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        userID = try row.decode("user_id")
        otherID = try row.decode("other_id")
        state = try row.decodeCase("state")
        foundAt = try row.decode("found_at")
        resolvedAt = try row.decode("resolved_at")
    }
}
