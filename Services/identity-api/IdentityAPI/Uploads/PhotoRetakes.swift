internal import Accounts
internal import BlobStore
internal import FoundationEssentials
internal import ImageProbe
internal import WireFormat

/// The failed session whose bad photos an upload retakes.
struct Retake: Sendable {
    let request: RetakeRequest
    let session: RetakenSession
}

/// Completes the uploads of retakes: new photos take the places of the bad photos of a failed session, whose good photos are used again.
///
/// The good photos are copied, so that the photos of each session are under its own prefix. The transaction of the session takes them
/// (``SessionRepository/takePhotos(for:)``); without its commit the failed session keeps them, and the copies are deleted.
struct PhotoRetakes: Sendable {
    let blobs: any BlobStore
    let starter: SessionStarter
    /// Whether a session without a challenge cannot be retaken.
    let requiresChallenge: Bool
    /// A copied photo is in memory as a whole: some at a time, in turns of the clients. Other than the turns of uploads, these may wait
    /// for a remote store.
    let turns = UploadTurns(width: 4)

    /// Returns the order of a retake with all its photos, in the order of the failed session; any other order as it is.
    ///
    /// The answer is the same for an e-mail with and without an account: the session alone decides it.
    ///
    /// - Parameters:
    ///   - sessionToken: The token of the failed session.
    ///   - sessionID: The new session, under whose prefix the copies are stored.
    ///   - client: The address of the sender.
    ///   - onProgress: Called after each copy.
    /// - Throws: `retake_unavailable` when the session keeps no photos for this sender; `missing_field` or `invalid_photo_count` when the
    ///   upload has other photos than the named ones; `challenge_required` when a challenge has been required since the session began.
    func completed(
        _ order: SessionOrder, sessionToken: String?, as sessionID: UUID, from client: IPAddress, onProgress: () async throws -> Void
    ) async throws -> SessionOrder {
        guard let text = order.upload.retakeOf else { return order }
        guard let sessionToken, !sessionToken.isPlaceholder else {
            throw APIError(
                .missingField, "A retake needs the token of the failed session in the header X-Session-Token", field: "X-Session-Token")
        }
        guard order.upload.texts[ChallengeGate.field].map(\.isPlaceholder) ?? true else {
            throw APIError(
                .invalidRequest, "A retake answers the challenge of the failed session, and none of its own", field: ChallengeGate.field)
        }
        guard let id = UUID(wireBytes: text.utf8) else { throw Self.unavailable }
        let request = RetakeRequest(
            of: id, tokenHash: OpaqueToken.hash(sessionToken), event: order.form.event, authorisedBy: order.bearer?.userID,
            verificationID: order.owner.verification?.id ?? order.proof?.id, attemptKeys: starter.countedIDs(of: order.owner),
            deviceKey: order.deviceProof?.key.thumbprint)
        let sessions = SessionRepository(starter.postgres)
        guard let session = try await sessions.keptPhotos(for: request) else { throw Self.unavailable }
        guard session.challenge != nil || !requiresChallenge else { throw ChallengeGate.required }
        for field in order.form.photoFields {
            try field.check(
                order.upload.photos.count { $0.pose == field.pose }, of: session.problems.count { $0.pose == field.pose })
        }
        guard try await sessions.countCopy(for: request) else { throw Self.unavailable }
        var completed = order
        completed.retake = Retake(request: request, session: session)
        try await addKept(of: session, to: &completed.upload, as: sessionID, from: client, onProgress)
        return completed
    }

    /// Copies the photos that the failed session has kept, and orders all photos as those of that session.
    private func addKept(
        of session: RetakenSession, to upload: inout ReceivedUpload, as sessionID: UUID, from client: IPAddress,
        _ onProgress: () async throws -> Void
    ) async throws {
        var new = Dictionary(grouping: upload.photos, by: \.pose).mapValues { $0[...] }
        let bad = session.badPositions
        var photos: [SessionPhoto] = []
        for (position, photo) in session.photos.enumerated() {
            if bad.contains(position) {
                guard let next = new[photo.pose]?.popFirst() else { throw APIError.internal }
                photos.append(next)
            } else {
                let key = try BlobFolder.sessions.key("kept-\(position + 1)", of: sessionID)
                try await turns.inTurn(of: client, byteCount: session.photoBytes / session.photos.count) {
                    upload.photoBytes += try await copy(photo.key, to: key)
                }
                try await onProgress()
                upload.cost += session.cost / session.photos.count + SessionRepository.photoCost
                photos.append(SessionPhoto(key: key.name, pose: photo.pose, sha256: photo.sha256))
            }
        }
        upload.photos = photos
    }

    /// - Returns: The size of the photo.
    private func copy(_ name: String, to key: BlobKey) async throws -> Int {
        guard let bytes = try await blobs.readIfPresent(name, limit: PictureLimits.maxBytes) else { throw Self.unavailable }
        try await blobs.write(bytes, to: key)
        return bytes.count
    }

    /// The refusal of a session that is unknown or another device's, has not failed, or does not keep photos any more.
    static let unavailable = APIError(
        .retakeUnavailable, "The session keeps no photos for a retake: send all photos again", field: UploadForm.retakeOf)
}

extension ReceivedUpload {
    /// The id of the failed session whose photos it retakes; nil for an upload with all its photos.
    var retakeOf: String? { texts[UploadForm.retakeOf].flatMap { $0.isPlaceholder ? nil : $0 } }
}
