public import Foundation

/// The account of the person who uses the app: proofs of an e-mail address, profile, sign-ins, blocks, export and erasure.
///
/// Arguments are checked before a request is sent: an argument that breaks a limit throws `invalid_argument` with the field. A call throws
/// `signed_out` when it needs a signed-in person, and `reauthentication_required` when it needs a sign-in of the last five minutes.
public struct AccountClient: Sendable {
    let api: any APISender
    let time: TimeSource
    let signIn: ThisSignIn

    init(api: any APISender, time: TimeSource = .system, signIn: ThisSignIn = ThisSignIn()) {
        self.api = api
        self.time = time
        self.signIn = signIn
    }

    /// The sign-in of this device, for calls by which the API ends it.
    struct ThisSignIn: Sendable {
        /// The id of the sign-in in use; nil without a sign-in.
        var current: @Sendable () async -> String? = { nil }
        /// Ends a sign-in on this device, unless another has replaced it, and the person's orders and sessions here.
        var end: @Sendable (_ id: String) async -> Void = { _ in }
    }

    // MARK: Before there is an account

    /// Fetches the consent that a person has to give before a face is processed; nil if the operator requires no consent.
    ///
    /// The app shows the text, and a sign-up names the accepted version.
    public func consent() async throws(HeliographError) -> Consent? { try await api.send(AuthRequests.consent()) }

    /// Asks for a code by mail, with which a person proves an e-mail address.
    ///
    /// The answer is the same for every address, whether it has an account or not. A call whose outcome is unknown is not repeated: each
    /// call mails another code, and the returned verification belongs to one of them.
    /// - Parameters:
    ///   - email: The address, which gets the code.
    ///   - displayName: The name of the account that may follow: 1 to 50 characters on one line.
    /// - Throws: `rate_limited` after too many mails.
    public func register(email: String, displayName: String? = nil) async throws(HeliographError) -> Verification {
        var name: String?
        if let displayName { name = try ArgumentLimits.displayName(displayName) }
        return try await api.send(AuthRequests.register(email: try ArgumentLimits.email(email), displayName: name))
    }

    /// Asks for another code, in the next mail to the address; it voids those before it. A verification may ask once a minute, and has five
    /// codes: a call beyond that gets the same answer, and no mail.
    public func resendCode(of verification: Verification) async throws(HeliographError) -> Verification {
        try await api.send(AuthRequests.resend(verification.id))
    }

    /// Asks for another code that a session waits for; see `resendCode(of:)` for a ``Verification``.
    public func resendCode(of awaited: EKYCSession.AwaitedCode) async throws(HeliographError) -> Verification {
        try await api.send(AuthRequests.resend(awaited.verificationID))
    }

    /// Enters a code. White space in it does not matter. The same code again gives the same answer.
    ///
    /// - Parameters:
    ///   - verificationID: The id of ``Verification``, or of a session of a sign-up with an e-mail address that is not proven.
    ///   - code: The six digits that were mailed.
    /// - Throws: `invalid_code` for a code that is wrong, used up or expired; `already_enrolled` when the address has an account;
    ///   `face_in_use` when another account has the face of the sign-up, and the operator allows one account a face.
    public func verify(_ verificationID: UUID, code: String) async throws(HeliographError) -> Verified {
        try await api.send(AuthRequests.verify(verificationID, code: try ArgumentLimits.code(code)))
    }

    // MARK: The account

    /// Fetches the account.
    public func profile() async throws(HeliographError) -> Profile { try await api.send(AccountRequests.profile()) }

    /// Sets the name that other people see with this person's messages; nil removes it.
    ///
    /// - Parameter name: 1 to 50 characters on one line; white space around it is dropped.
    /// - Returns: The name as stored.
    public func setDisplayName(_ name: String?) async throws(HeliographError) -> String? {
        var checked: String?
        if let name { checked = try ArgumentLimits.displayName(name) }
        return try await api.send(AccountRequests.setDisplayName(checked)).displayName
    }

    /// Asks for a code by mail to another address, which counts once the code is entered by ``verify(_:code:)``.
    ///
    /// Needs a sign-in of the last five minutes. When the address counts, the account's other devices are signed out.
    public func changeEmail(to email: String) async throws(HeliographError) -> Verification {
        try await api.send(AccountRequests.changeEmail(to: try ArgumentLimits.email(email)))
    }

    /// Says whether the face of the account is about to be replaced by a recovery that was asked for by e-mail.
    public func recovery() async throws(HeliographError) -> Recovery { try await api.send(AccountRequests.recovery()) }

    /// Cancels a recovery. Also succeeds without a pending recovery.
    public func cancelRecovery() async throws(HeliographError) { try await api.send(AccountRequests.cancelRecovery()) }

    // MARK: Where it is signed in

    /// Fetches the devices on which the account is signed in, the last used first, 200 at most.
    public func signIns() async throws(HeliographError) -> [SignIn] { try await api.send(AccountRequests.signIns()) }

    /// Signs one device out, and ends the pushes to it.
    ///
    /// Also succeeds when the sign-in had ended meanwhile.
    public func endSignIn(_ id: UUID) async throws(HeliographError) {
        do throws(HeliographError) {
            try await api.send(AccountRequests.endSignIn(id))
        } catch  where error.code == .notFound {
            // The sign-in has already ended, or a repetition found that the first attempt had succeeded.
        }
    }

    /// Signs all other devices out, and ends the pushes to them.
    public func endOtherSignIns() async throws(HeliographError) { try await api.send(AccountRequests.endSignIns(exceptCurrent: true)) }

    /// Signs all devices out, this one included: the person's orders and sessions here end, and every later call throws `signed_out`.
    public func endAllSignIns() async throws(HeliographError) {
        try await endThisSignIn { () async throws(HeliographError) in
            try await api.send(AccountRequests.endSignIns(exceptCurrent: false))
        }
    }

    /// Performs a request by which the API ends the sign-in of this device, and ends it here as well once the API has accepted the request.
    func endThisSignIn<Answer: Sendable>(
        _ request: () async throws(HeliographError) -> Answer
    ) async throws(HeliographError) -> Answer {
        let current = await signIn.current()
        let answer = try await request()
        if let current { await signIn.end(current) }
        return answer
    }
}
