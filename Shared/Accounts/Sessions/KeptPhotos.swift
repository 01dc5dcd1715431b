public import FoundationEssentials
public import WireFormat

/// The limits of the photos that are kept for a retake: the good photos of a session that failed by others.
///
/// Strangers can make sessions that fail. Beyond the limits nothing is kept, and the app sends all photos again.
public enum KeptPhotos {
    /// The time after a failure in which its photos can be used: 10 minutes. A series of retakes has it once.
    public static let time: Duration = .seconds(10 * 60)
    /// How many uploads may copy the photos of a session: one succeeds, and others may have been refused after the copy. A copy costs its
    /// sender a few bytes, and the store up to 90 MB.
    static let maxCopies = 8
    /// The most bytes of the sessions whose photos are kept: 2 GiB.
    static let maxBytes = 2 << 30
    /// Those of one site: a sixteenth.
    static let maxBytesPerSite = maxBytes / 16

    /// SQL expression on a row of `sessions` that fails: the end of the time in which its photos can be used; `NULL` where they are not
    /// kept.
    static let end = """
        CASE WHEN coalesce(photos_kept_until, 'infinity') > now()
              AND (SELECT coalesce(sum(k.photo_bytes), 0) + sessions.photo_bytes <= \(maxBytes)
                      AND coalesce(sum(k.photo_bytes) FILTER (WHERE k.site_key = sessions.site_key), 0) + sessions.photo_bytes
                          <= \(maxBytesPerSite)
                   FROM sessions k WHERE k.photos_kept_until IS NOT NULL AND k.id <> sessions.id)
        THEN coalesce(photos_kept_until, now() + interval '\(time.components.seconds) seconds') END
        """
}

/// The request to retake photos of a failed session, with what it has in common with it.
public struct RetakeRequest: Sendable {
    /// The failed session.
    public var sessionID: UUID
    /// SHA-256 of its token, which only the device has that began it.
    public var tokenHash: [UInt8]
    /// Sign-up or sign-in.
    public var event: EkycEvent
    /// The account whose bearer authorises the retake; `nil` without one.
    public var authorisedBy: UUID?
    /// As ``NewSession/verificationID``.
    public var verificationID: UUID?
    /// The attempt keys of the e-mail of a sign-in; empty for a sign-up.
    public var attemptKeys: [UUID]
    /// As ``NewSession/deviceKey``.
    public var deviceKey: [UInt8]?

    /// Names the session and its sender.
    public init(
        of sessionID: UUID, tokenHash: [UInt8], event: EkycEvent, authorisedBy: UUID? = nil, verificationID: UUID? = nil,
        attemptKeys: [UUID] = [], deviceKey: [UInt8]? = nil
    ) {
        self.sessionID = sessionID
        self.tokenHash = tokenHash
        self.event = event
        self.authorisedBy = authorisedBy
        self.verificationID = verificationID
        self.attemptKeys = attemptKeys
        self.deviceKey = deviceKey
    }
}

/// A failed session that keeps its good photos for a retake of the bad ones.
public struct RetakenSession: Sendable, Equatable {
    /// As ``Session/seriesID``.
    public let seriesID: UUID
    /// As ``Session/photosKeptUntil``.
    public let keptUntil: Date
    /// All its photos in the order of the upload; the blobs of the bad ones are deleted.
    public let photos: [SessionPhoto]
    /// The bad photos.
    public let problems: [PhotoProblems]
    /// The poses of the challenge that it answers; `nil` without one.
    public let challenge: [LivenessPose]?
    /// The time of face engines that its photos have taken.
    public let cost: Duration
    /// The bytes of its photos.
    public let photoBytes: Int

    /// The positions of the bad photos in ``photos``.
    public var badPositions: Set<Int> { problems.positions(in: photos) }
}

extension [PhotoProblems] {
    /// The positions of these photos among all photos of their upload.
    func positions(in photos: [SessionPhoto]) -> Set<Int> {
        var counts: [SessionPhoto.Pose: Int] = [:]
        return Set(
            photos.indices.filter { position in
                let pose = photos[position].pose
                let index = counts[pose, default: 0]
                counts[pose] = index + 1
                return contains { $0.pose == pose && $0.index == index }
            })
    }
}

extension Session {
    /// The photos that are deleted once it is decided: all of them, or the bad ones where the others are kept for a retake.
    public var unneededPhotos: [SessionPhoto] {
        photosKeptUntil == nil ? photos : photoProblems.positions(in: photos).sorted().map { photos[$0] }
    }
}
