public import FoundationEssentials
public import PostgresClient

/// The fingerprints by which a photo of a user is recognised. They are keyed, so they are useless without the key.
public struct PhotoFingerprint: Sendable, Equatable {
    /// The bytes of a signature.
    public static let signatureByteCount = 128

    /// The user, or the id under which attempts with an e-mail are counted; it is an input of the hashes.
    public let userID: UUID
    /// HMAC of the file's SHA-256; 32 bytes.
    public let fileHash: [UInt8]
    /// HMAC of the SHA-256 of the decoded picture; 32 bytes. `nil` for a photo that cannot be decoded.
    public let pixelHash: [UInt8]?
    /// Keyed bits of the face, of which few differ between copies of a photo; ``signatureByteCount`` bytes. `nil` without a face.
    public let signature: [UInt8]?
    /// The signature of the photo's mirror image, for comparisons only; `nil` compares only the photo itself.
    public let mirroredSignature: [UInt8]?

    /// Describes a photo.
    public init(userID: UUID, fileHash: [UInt8], pixelHash: [UInt8]?, signature: [UInt8]?, mirroredSignature: [UInt8]? = nil) {
        self.mirroredSignature = mirroredSignature
        self.userID = userID
        self.fileHash = fileHash
        self.pixelHash = pixelHash
        self.signature = signature
    }
}

/// Reads and writes `face_photo_hashes`: a photo that is used a second time for a user is a replay.
public struct FacePhotoHashRepository: Sendable {
    /// The time for which a photo is remembered: 180 days.
    ///
    /// Long enough for a recorded upload to become stale, and no longer: the hash of a face photo is personal data, and the table
    /// must not grow without bound. At 3 photos a sign-in and two sign-ins a day, a user has about 1,000 rows of 300 bytes.
    public static let lifetime: Duration = .seconds(180 * 24 * 60 * 60)
    /// The time for which the signature of a refused photo is compared: 24 hours.
    ///
    /// Strangers choose which photos are refused. One in a hundred other photos of the same person is as similar as a copy, so a stranger's
    /// photos would make the owner's own photos look like copies.
    public static let refusedSignatureTime: Duration = .seconds(24 * 60 * 60)
    /// The most photos of refused sessions, the newest ones, whose signatures are compared: strangers can add any number of them. Their
    /// hashes, and the signatures of accepted photos, are compared without a limit.
    static let maxRefusedCompared = 5_000

    let db: any PostgresQueryable

    /// Works on a client or inside a transaction.
    public init(_ db: some PostgresQueryable) {
        self.db = db
    }

    /// Stores photos of a session. The statement is the same whether the users exist or not.
    ///
    /// - Parameter series: ``Session/seriesID`` of the session.
    /// - Returns: The number of photos that were not stored before, by file or picture.
    @discardableResult
    public func add(_ photos: [PhotoFingerprint], accepted: Bool, series: UUID) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            INSERT INTO face_photo_hashes (user_id, file_hash, pixel_hash, signature, is_accepted, series_id)
            SELECT user_id, file_hash, nullif(pixel_hash, ''), \(unescaped: Self.bits("signature")), \(accepted), \(series)::uuid
            FROM unnest(\(photos.map(\.userID)), \(photos.map(\.fileHash)), \(photos.map { $0.pixelHash ?? [] }),
                        \(photos.map { $0.signature ?? [] })) AS given (user_id, file_hash, pixel_hash, signature)
            ORDER BY user_id, file_hash
            ON CONFLICT DO NOTHING
            """)
    }

    /// Makes photos of a series of retakes, which were stored with its refused sessions, accepted ones: its last session has succeeded.
    public func accept(_ photos: [PhotoFingerprint], ofSeries series: UUID) async throws(PostgresError) {
        try await db.execute(
            """
            UPDATE face_photo_hashes SET is_accepted = true
            FROM unnest(\(photos.map(\.userID)), \(photos.map(\.fileHash))) AS given (user_id, file_hash)
            WHERE face_photo_hashes.user_id = given.user_id AND face_photo_hashes.file_hash = given.file_hash
              AND series_id = \(series) AND NOT is_accepted
            """)
    }

    /// Serialises the sessions of a user that use up photos, until the transaction ends: of two with the same photo, the second sees the
    /// photos of the first.
    public func lock(userID: UUID) async throws(PostgresError) {
        try await db.execute("SELECT pg_advisory_xact_lock(hashtextextended('face_photos:' || (\(userID)::uuid)::text, 0))")
    }

    /// Returns whether one of these photos was used before for its user: the same file, the same picture, or a copy of it, also a mirrored
    /// one.
    ///
    /// - Parameters:
    ///   - maxDistance: The most bits in which the signatures of a photo and its copy differ.
    ///   - isTrusted: Whether their sender is trusted (``Session/isTrusted``): then copies of accepted photos are found, but of refused
    ///     photos only the same files and pictures, because strangers may have sent the refused ones.
    ///   - series: ``Session/seriesID`` of the session: the photos that its series of retakes has used do not count.
    public func containsAny(
        of photos: [PhotoFingerprint], maxDistance: Int, isTrusted: Bool, series: UUID
    ) async throws(PostgresError) -> Bool {
        guard !photos.isEmpty else { return false }
        let query: PostgresQuery = """
            WITH given AS (
                SELECT user_id, file_hash, nullif(pixel_hash, '') AS pixel_hash, \(unescaped: Self.bits("signature")) AS signature,
                    \(unescaped: Self.bits("mirrored")) AS mirrored
                FROM unnest(\(photos.map(\.userID)), \(photos.map(\.fileHash)), \(photos.map { $0.pixelHash ?? [] }),
                            \(photos.map { $0.signature ?? [] }), \(photos.map { $0.mirroredSignature ?? [] }))
                    AS given (user_id, file_hash, pixel_hash, signature, mirrored)
            ), stored AS (
                SELECT u.user_id, s.signature FROM (SELECT DISTINCT user_id FROM given) u CROSS JOIN LATERAL (
                    (SELECT signature FROM face_photo_hashes
                     WHERE user_id = u.user_id AND is_accepted AND signature IS NOT NULL AND series_id IS DISTINCT FROM \(series))
                    UNION ALL
                    (SELECT signature FROM face_photo_hashes
                     WHERE NOT \(isTrusted) AND user_id = u.user_id AND NOT is_accepted AND signature IS NOT NULL
                       AND created_at > now() - make_interval(secs => \(Self.refusedSignatureTime / .seconds(1)))
                       AND series_id IS DISTINCT FROM \(series)
                     ORDER BY created_at DESC LIMIT \(unescaped: "\(Self.maxRefusedCompared)"))) s
            )
            SELECT EXISTS (SELECT FROM face_photo_hashes JOIN given USING (user_id, file_hash) WHERE series_id IS DISTINCT FROM \(series))
                OR EXISTS (SELECT FROM face_photo_hashes JOIN given USING (user_id, pixel_hash) WHERE series_id IS DISTINCT FROM \(series))
                OR EXISTS (
                    SELECT FROM stored JOIN given USING (user_id)
                    WHERE least(bit_count(stored.signature # given.signature), bit_count(stored.signature # given.mirrored))
                          <= \(maxDistance)) AS seen
            """
        let rows = try await db.query(query.readOnly())
        return try rows.first?.decode("seen", as: Bool.self) ?? false
    }

    /// Forgets all photos of an id.
    public func deleteAll(of userID: UUID) async throws(PostgresError) {
        try await db.execute("DELETE FROM face_photo_hashes WHERE user_id = \(userID)")
    }

    /// A signature of a given photo as SQL; an array of bytes has no nulls, so an empty one stands for a missing signature.
    static func bits(_ column: String) -> String { "CASE WHEN \(column) <> '' THEN ('x' || encode(\(column), 'hex'))::bit(1024) END" }

    /// Deletes at most `limit` photos older than `lifetime`.
    ///
    /// - Returns: The number of deleted photos.
    @discardableResult
    public func deleteExpired(lifetime: Duration = Self.lifetime, limit: Int) async throws(PostgresError) -> Int {
        try await db.execute(
            """
            DELETE FROM face_photo_hashes WHERE (user_id, file_hash) IN (
                SELECT user_id, file_hash FROM face_photo_hashes
                WHERE created_at < now() - make_interval(secs => \(lifetime / .seconds(1)))
                ORDER BY created_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """)
    }
}
