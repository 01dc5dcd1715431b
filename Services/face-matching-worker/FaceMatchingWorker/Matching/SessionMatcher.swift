internal import Accounts
internal import BlobStore
internal import FaceEngine
internal import FoundationEssentials
internal import HeliographCrypto
internal import Logging
internal import PostgresClient
internal import WireFormat

/// Reaches the verdict on a session by its photos.
///
/// The distance between two faces does not leave this type: it is not logged, stored or sent.
struct SessionMatcher: Sendable {
    let postgres: PostgresClient
    let sealer: Sealer
    let blobs: any BlobStore
    let engines: FaceEnginePool
    let duplicates: DuplicateCheck
    let fingerprinter: PhotoFingerprinter
    let logger: Logger
    let signUp = SignUpDecision()
    let signIn: SignInDecision
    var liveness = LivenessCheck()

    /// The template that a sign-in with an unknown e-mail is compared with, so that it takes the same steps and time.
    private static let decoy: EnrolledFace = {
        var generator = SystemRandomNumberGenerator()
        let faces = (0..<3).map { _ in
            FaceDescriptor(
                normalising: (0..<FaceDescriptor.count).map { _ in Float.random(in: 0.1...1, using: &generator) })
        }
        return EnrolledFace(left: [faces[0]], right: [faces[1]], front: [faces[2]], isMirrored: false)
    }()

    /// Examines the photos of a session and reaches the verdict.
    ///
    /// Photos of a known device are analysed before others. They, and those of a sign-in with a proof, do not count as copies of
    /// photos that strangers have sent.
    ///
    /// - Throws: `BlobStoreError`, `FaceEngineError`, `PostgresError` or `CryptoError` when no verdict can be reached.
    func examine(_ session: Session) async throws -> ExaminedSession {
        let examiner = PhotoExaminer(blobs: blobs, engines: engines, precedence: FaceEnginePool.Precedence(session.lane))
        let examined = try await examiner.examine(session.photos, for: session.event == .signUp ? .signUp : .signIn)
        var result =
            switch session.event {
            case .signUp: try await verdictOnSignUp(session, examined)
            case .signIn: try await verdictOnSignIn(session, examined)
            }
        result.problems = PhotoReview()(examined)
        result.engineTime = examined.reduce(.zero) { $0 + $1.engineTime }
        return result
    }

    /// Examines the photos, and searches for others with the face: neither the result nor its duration may depend on the data of the
    /// account, or on the faces found.
    private func verdictOnSignUp(_ session: Session, _ examined: [ExaminedPhoto]) async throws -> ExaminedSession {
        let photos = examined.compactMap { photo in
            FacePose(photo.pose).map { SignUpDecision.Photo(pose: $0, digest: photo.digest, analysis: photo.analysis) }
        }
        var result = ExaminedSession(
            verdict: .refused(.internal), photos: fingerprinter.fingerprints(of: examined, for: session.userID))
        switch signUp(photos) {
        case .accepted(let face): judge(examined, of: session, against: face, &result)
        case .refused(let refusal): result.verdict = .refused(SessionReason(refusal))
        }
        if case .enrol(let face) = result.verdict { result.duplicates = try await duplicates.findings(on: face) }
        return result
    }

    /// Judges the photos by which a sign-up answers a challenge: they show a live person, and the same one as the other nine photos.
    private func judge(_ examined: [ExaminedPhoto], of session: Session, against face: EnrolledFace, _ result: inout ExaminedSession) {
        result.verdict = .enrol(face)
        guard session.challenge != nil else { return }
        let answer = examined.filter { $0.pose == .challenge }
        let digests = examined.map(\.digest) + examined.compactMap(\.pixelDigest)
        guard Set(digests).count == digests.count else {
            result.verdict = .refused(.duplicateImages)
            return
        }
        let photos = answer.map { SignInDecision.Photo(digest: $0.digest, analysis: $0.analysis) }
        let comparison = signIn(photos, template: face, isReplay: false)
        if case .refused(let refusal) = comparison, refusal != .noMatch {
            result.verdict = .refused(SessionReason(refusal))
            return
        }
        if isLive(answer, of: session, &result), comparison != .accepted { result.verdict = .refused(.inconsistentFaces) }
    }

    private func verdictOnSignIn(_ session: Session, _ examined: [ExaminedPhoto]) async throws -> ExaminedSession {
        let enrolled: EnrolledFace?
        do {
            enrolled = try await enrolledFace(of: session.userID)
        } catch  where PermanentFailure.makesTemplateUnusable(error) {
            logger.error("a stored face cannot be used", metadata: ["session": "\(session.id)", "error": "\(error)"])
            enrolled = nil
        }
        let used = fingerprinter.fingerprints(of: examined, for: session.attemptKey ?? session.userID)
        // Fingerprints of sign-ins are stored under the e-mail; fingerprints of sign-ups, and of accepted sign-ins, under the account. The
        // search takes as long for an e-mail without an account.
        let ofAccount = fingerprinter.fingerprints(of: examined, for: session.userID)
        let ofOtherKeys = session.otherAttemptKeys.flatMap { fingerprinter.fingerprints(of: examined, for: $0) }
        let isReplay = try await FacePhotoHashRepository(postgres).containsAny(
            of: used + ofAccount + ofOtherKeys, maxDistance: FaceSignatureHasher.maxDistance, isTrusted: session.isTrusted,
            series: session.seriesID)
        let photos = examined.map { SignInDecision.Photo(digest: $0.digest, analysis: $0.analysis) }
        var result = ExaminedSession(
            verdict: .refused(.noMatch), photos: used, photosOfAccount: ofAccount, photosOfOtherKeys: ofOtherKeys)
        switch signIn(photos, template: enrolled ?? Self.decoy, isReplay: isReplay) {
        case .refused(let refusal) where refusal != .noMatch: result.verdict = .refused(SessionReason(refusal))
        case let comparison:
            // Checked before the comparison's result is used: the response to a printed photo must not show whether the face matches, or
            // whether there is an account.
            if isLive(examined, of: session, &result), comparison == .accepted, enrolled != nil { result.verdict = .recognised }
        }
        return result
    }

    /// Returns true if the photos that answer the challenge show a live person, or the session has no challenge; otherwise refuses the
    /// session.
    private func isLive(_ answer: [ExaminedPhoto], of session: Session, _ result: inout ExaminedSession) -> Bool {
        guard let poses = session.challenge else { return true }
        for photo in answer {
            // The fault of an unusable photo tells the person what to improve.
            guard case .rejected(let faults) = photo.analysis else { continue }
            result.verdict = .refused(SessionReason(FaceRefusal(faults.first)))
            return false
        }
        result.liveness = liveness(answer, to: poses)
        guard case .failed = result.liveness else { return true }
        result.verdict = .refused(.livenessFailed)
        return false
    }

    /// Returns the account's face; nil for an account without a face.
    private func enrolledFace(of userID: UUID) async throws -> EnrolledFace? {
        guard let stored = try await FaceTemplateRepository(postgres).find(userID: userID) else { return nil }
        let bytes = try sealer.open(stored.templateSealed, context: SealingContext.faceTemplate(userID: userID))
        let face = try EnrolledFace(decoding: bytes)
        guard face.isComparable else { throw IncomparableFace() }
        return face
    }
}

extension FaceEnginePool.Precedence {
    fileprivate init(_ lane: EkycLane) {
        self =
            switch lane {
            case .known: .high
            case .new: .ordinary
            case .bulk: .background
            }
    }
}

/// Thrown for a stored face of another network or another version of the pipeline: the user has to enrol again.
struct IncomparableFace: Error {}
