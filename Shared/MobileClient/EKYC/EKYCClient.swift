/// Sign-up and sign-in by face.
///
/// A call checks the photos, keeps them on the device and returns; the upload continues in the session, even after an end of the process.
/// After each launch the app gets the remaining sessions by ``pending()``.
public struct EKYCClient: Sendable {
    let manager: EKYCSessionManager

    init(_ manager: EKYCSessionManager) { self.manager = manager }

    /// Begins a sign-up for the signed-in account, whose face is replaced, or for an e-mail address.
    ///
    /// - Parameters:
    ///   - photos: Three photos of each side.
    ///   - email: An address that need not be proven; nil for the account.
    ///   - consent: The version of the text that the person has agreed to (``AccountClient/consent()``); nil if none is required.
    ///   - answer: A challenge and the photos that answer it (``challenge()``); nil where the app asks for none.
    /// - Throws: As ``signUp(_:as:consent:answering:)``.
    public func signUp(
        _ photos: SignUpPhotos, email: String? = nil, consent: String? = nil, answering answer: ChallengeAnswer? = nil
    ) async throws(HeliographError) -> EKYCSession {
        try await manager.signUp(photos, as: email.map { .email($0) } ?? .account, consent: consent, answer: answer)
    }

    /// Begins a sign-up.
    ///
    /// - Parameters:
    ///   - photos: Three photos of each side.
    ///   - owner: Who signs up.
    ///   - consent: The version of the text that the person has agreed to (``AccountClient/consent()``); nil if none is required.
    ///   - answer: A challenge and the photos that answer it (``challenge()``); nil where the app asks for none.
    /// - Throws: `invalid_argument` with the field when a group has not exactly three photos, a photo is empty, of another format, or too
    ///   large and cannot be scaled down, the address is not an e-mail address, or Firebase has not given a push token; `storage` when a
    ///   photo cannot be read or the device has no space; `signed_out` when the person signs out meanwhile. Nothing is sent or left on the
    ///   device then. What the API refuses is the session's outcome.
    public func signUp(
        _ photos: SignUpPhotos, as owner: Owner, consent: String? = nil, answering answer: ChallengeAnswer? = nil
    ) async throws(HeliographError) -> EKYCSession {
        try await manager.signUp(photos, as: owner, consent: consent, answer: answer)
    }

    /// Begins a sign-in. A pending sign-in ends as ``EKYCSession/Outcome/superseded``.
    ///
    /// - Parameters:
    ///   - photos: Exactly three photos of the face, which were not used before.
    ///   - email: The address of the account.
    ///   - challenge: The challenge that the photos answer in the order of its poses (``challenge()``); nil without a challenge.
    ///   - enrolmentToken: The proof of the address from an entered code; nil without a proof. With it a person can sign in on a new phone
    ///     while an attacker fails on purpose, or while sign-ins of new phones are restricted.
    /// - Throws: As ``signUp(_:as:consent:answering:)``.
    public func signIn(
        _ photos: [Photo], email: String, answering challenge: Challenge? = nil, provenBy enrolmentToken: String? = nil
    ) async throws(HeliographError) -> EKYCSession {
        try await manager.signIn(photos, email: email, challenge: challenge, proof: enrolmentToken)
    }

    /// Begins a session with new photos in place of the bad ones of a failed session: a sign-up or sign-in as that one, whose other photos,
    /// texts and challenge count again. A retake that fails may be retaken in turn.
    ///
    /// It is possible once for a session, before the app acknowledges that, until ``EKYCSession/Failure/retakeUntil``, and for a sign-in
    /// until another sign-in begins. A retake without success that names no photos to retake is followed by an attempt with all photos.
    ///
    /// - Parameters:
    ///   - photos: One for each photo of ``EKYCSession/Outcome/photosToRetake``, in their order.
    ///   - session: The failed session.
    /// - Throws: `retake_unavailable` where the device knows that the photos cannot be retaken any more; otherwise as
    ///   ``signUp(_:as:consent:answering:)``. What the API refuses is the new session's outcome, with the same code where it has not kept
    ///   the other photos.
    public func retake(_ photos: [Photo], of session: EKYCSession) async throws(HeliographError) -> EKYCSession {
        try await manager.retake(photos, of: session.id)
    }

    /// The sessions whose outcome the app has not acknowledged (``EKYCSession/acknowledge()``), the oldest first: open sessions, and ended
    /// ones with their outcome. A session is omitted a day after its end.
    ///
    /// - Throws: `storage` when the device cannot read its files.
    public func pending() async throws(HeliographError) -> [EKYCSession] { try await manager.pending() }
}
