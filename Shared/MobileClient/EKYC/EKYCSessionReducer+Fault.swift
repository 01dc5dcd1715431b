extension EKYCSessionReducer {
    /// An error of a request, as the decisions see it.
    struct Fault: Hashable, Sendable {
        let error: HeliographError

        init(_ error: HeliographError) { self.error = error }

        func hash(into hasher: inout Hasher) { hasher.combine(error.code) }
    }

    /// The meaning of a failed upload for the session that it was to start.
    enum UploadFailure: Hashable {
        /// The API refuses these photos and fields. So it has also refused each earlier attempt with them, or has found no earlier attempt.
        case refusedContent
        /// The API, or this device, refuses before it looks for an earlier attempt, which may have been accepted.
        case refusedSender
        /// This attempt started no session, and another attempt may soon succeed.
        case notNow
        /// The attempt may have been accepted.
        case unknown
    }
}

extension EKYCSessionReducer.Fault {
    /// The errors of the client's own that keep a request from being sent.
    private static let unsent: Set<HeliographError.Code> = [.signedOut, .storage, .invalidArgument]
    /// The statuses that the API answers after it has looked for an earlier attempt, or by the body alone.
    private static let statusesOfContent: Set<Int> = [400, 413, 415, 422]
    /// The refusals that no repetition of the same question changes. The loss of the device's key is another one.
    private static let finalCodes: Set<HeliographError.Code> = [
        .unauthorized, .forbidden, .sessionNotFound, .notFound, .deviceKeyRequired,
    ]
    /// The refusals of a challenge, or of a failed session, that may have been good at an earlier attempt: the API gives them when it has
    /// found no earlier attempt.
    private static let codesOfContent: Set<HeliographError.Code> = [.challengeExpired, .challengeUsed, .retakeUnavailable]

    var uploadFailure: EKYCSessionReducer.UploadFailure {
        if Self.unsent.contains(error.code) { return .refusedSender }
        guard let status = error.status, 400...599 ~= status, error.code != .unexpectedAnswer else { return .unknown }
        // An attempt of the same key is still being handled.
        if error.code == .requestInProgress { return .unknown }
        if Self.statusesOfContent.contains(status) || Self.codesOfContent.contains(error.code) { return .refusedContent }
        if status == 503 { return .notNow }
        return status >= 500 ? .unknown : .refusedSender
    }

    /// Whether a later upload may pass although this one was refused: the limits on requests are checked before repetitions are recognised.
    var isLimit: Bool { error.status == 429 }

    /// Whether the API will not answer this question any more. Decided by the API's codes: a status may come from a proxy.
    var isFinal: Bool { Self.finalCodes.contains(error.code) || error.isAboutOtherKey }

    /// Whether the API refuses the entered code, which may be no code at all.
    var refusesCode: Bool { error.code == .invalidCode || error.status == 400 && error.field == "code" }

    /// The pause before the next attempt: three seconds, doubled with each failure up to 48, and not before the API admits one.
    func pause(after failures: Int) -> Int {
        let own = 3_000 << min(failures, 4)
        guard let retryAfter = error.retryAfter else { return own }
        // A hostile or mistaken answer must not hold the session for longer than an hour.
        return max(own, Int(min(max(retryAfter / .milliseconds(1), 0), 3_600_000)))
    }
}
