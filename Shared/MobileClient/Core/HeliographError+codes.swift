/// The codes of the API (docs/api/errors.md).
extension HeliographError.Code {
    /// 400: a value of the request is not valid; ``HeliographError/field`` names it.
    public static let invalidRequest = Self(rawValue: "invalid_request")
    /// 400: a value that is required is missing; ``HeliographError/field`` names it.
    public static let missingField = Self(rawValue: "missing_field")
    /// 400: a file is no whole picture in JPEG, PNG, WebP or HEIC.
    public static let invalidImage = Self(rawValue: "invalid_image")
    /// 400: a field of the form has fewer or more photos than the request takes.
    public static let invalidPhotoCount = Self(rawValue: "invalid_photo_count")
    /// 400: the text is no e-mail address.
    public static let invalidEmail = Self(rawValue: "invalid_email")
    /// 400: there is no such template of pictures; fetch the list again.
    public static let templateNotFound = Self(rawValue: "template_not_found")
    /// 400: the code is wrong or has ended; the mail may have a newer one.
    public static let invalidCode = Self(rawValue: "invalid_code")
    /// 400: the request has to name the version of the consent that the person has agreed to (``AccountClient/consent()``).
    public static let consentRequired = Self(rawValue: "consent_required")
    /// 400: the API requires a challenge (``EKYCClient/challenge()``) and photos that answer it.
    public static let challengeRequired = Self(rawValue: "challenge_required")
    /// 400: the text is not the id of a challenge of this API; another challenge is needed.
    public static let challengeInvalid = Self(rawValue: "challenge_invalid")
    /// 409: the challenge ended before the upload began; another one is needed.
    public static let challengeExpired = Self(rawValue: "challenge_expired")
    /// 409: the challenge was answered by an earlier upload; another one is needed.
    public static let challengeUsed = Self(rawValue: "challenge_used")
    /// 409: the photos of the failed session are not kept any more, or not for this sender: begin again with all photos. Also thrown by the
    /// client where it knows that.
    public static let retakeUnavailable = Self(rawValue: "retake_unavailable")
    /// 413: the body is longer than the API accepts; also thrown by the client before a request is sent.
    public static let payloadTooLarge = Self(rawValue: "payload_too_large")
    /// 415: the body is not of a type that the request takes.
    public static let unsupportedMediaType = Self(rawValue: "unsupported_media_type")
    /// 408: the body stopped for 15 s or ended early; the same request may succeed.
    public static let requestTimeout = Self(rawValue: "request_timeout")
    /// 404: the thing is unknown, or not there any more.
    public static let notFound = Self(rawValue: "not_found")
    /// 405: the path does not take this method.
    public static let methodNotAllowed = Self(rawValue: "method_not_allowed")
    /// 401: the bearer is missing, has ended or was revoked.
    public static let unauthorized = Self(rawValue: "unauthorized")
    /// 403: the request is for others, such as the owner of a topic.
    public static let forbidden = Self(rawValue: "forbidden")
    /// 404: the session is unknown, or more than a day old.
    public static let sessionNotFound = Self(rawValue: "session_not_found")
    /// 404: the job is unknown, deleted, or more than a day old.
    public static let jobNotFound = Self(rawValue: "job_not_found")
    /// 404: there is no such topic, or the person is not a member of it.
    public static let topicNotFound = Self(rawValue: "topic_not_found")
    /// 409: the e-mail address has an account: sign in, or recover it.
    public static let alreadyEnrolled = Self(rawValue: "already_enrolled")
    /// 409: another account has the face, and the operator allows one account a face.
    public static let faceInUse = Self(rawValue: "face_in_use")
    /// 409: the installation has to be registered for pushes first.
    public static let deviceNotRegistered = Self(rawValue: "device_not_registered")
    /// 403: the request needs a sign-in of the last five minutes.
    public static let reauthenticationRequired = Self(rawValue: "reauthentication_required")
    /// 401: the proof of the device's key needs the nonce of the response.
    public static let useDPoPNonce = Self(rawValue: "use_dpop_nonce")
    /// 401: the proof of the device's key is not valid, was used before, or is of another key than the sign-in.
    public static let invalidDPoPProof = Self(rawValue: "invalid_dpop_proof")
    /// 401: the sign-in has a device key, or needs one, and the request had no proof of it.
    public static let deviceKeyRequired = Self(rawValue: "device_key_required")
    /// 403: the device is new to the account, and a code was mailed to its address.
    public static let verificationRequired = Self(rawValue: "verification_required")
    /// 429: too many requests; ``HeliographError/retryAfter`` says when another may be sent.
    public static let rateLimited = Self(rawValue: "rate_limited")
    /// 429: sign-ins of the account have failed too often; ``HeliographError/retryAfter`` says when it is not locked any more.
    public static let accountLocked = Self(rawValue: "account_locked")
    /// 409: there are as many as there may be, such as topics or contacts.
    public static let limitReached = Self(rawValue: "limit_reached")
    /// 409: another owner has the name.
    public static let nameTaken = Self(rawValue: "name_taken")
    /// 404: the notification is unknown, or another app's.
    public static let notificationNotFound = Self(rawValue: "notification_not_found")
    /// 409: the notification was sent already, too late to cancel it.
    public static let alreadySent = Self(rawValue: "already_sent")
    /// 409: another request of the same kind or key is under way; ``HeliographError/retryAfter`` says when to ask again.
    public static let requestInProgress = Self(rawValue: "request_in_progress")
    /// 422: the key, or the id of the message, was used for another request.
    public static let idempotencyKeyReused = Self(rawValue: "idempotency_key_reused")
    /// 500: the API has failed; the operator finds the cause by ``HeliographError/requestID``.
    public static let `internal` = Self(rawValue: "internal")
    /// 503: the API takes no more work for now; ``HeliographError/retryAfter`` says when to ask again.
    public static let overloaded = Self(rawValue: "overloaded")
    /// 503: a part of the API does not answer; ``HeliographError/retryAfter`` says when to ask again.
    public static let unavailable = Self(rawValue: "unavailable")
}
