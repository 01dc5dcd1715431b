extension ErrorCode {
    /// The remedy for the app or the person, in one sentence.
    var remedy: String {
        switch self {
        case .invalidRequest, .missingField: "A mistake of the app: correct the `field` that the error names."
        case .invalidImage: "The file is no whole picture in JPEG, PNG, WebP or HEIC: choose another one."
        case .invalidPhotoCount: "Send exactly as many photos in each field as the request takes."
        case .invalidEmail: "Correct the e-mail address."
        case .templateNotFound: "Fetch `GET /v1/templates` again, and let the person choose."
        case .payloadTooLarge: "Send a smaller picture or text."
        case .unsupportedMediaType: "A mistake of the app: send the type of body that the request takes, without `Content-Encoding`."
        case .notFound: "It is unknown, or not there any more: fetch the list again, or begin again."
        case .methodNotAllowed: "A mistake of the app: `Allow` has the methods of the path."
        case .invalidCode:
            "With `attempts_left`: enter the code of the newest mail, or the letters of the new device; with 0: ask for another code."
        case .consentRequired: "Show the text of `GET /v1/consent`, and send its `consent_version` once the person agrees."
        case .challengeRequired, .challengeInvalid, .challengeExpired, .challengeUsed:
            "Ask for a challenge, take new photos that show its poses, and send both."
        case .retakeUnavailable: "Begin again with all photos."
        case .requestTimeout: "Send the request again; on a slow network, a smaller body."
        case .unauthorized: "Refresh the tokens once; if that gets 401 as well, sign in again."
        case .forbidden: "It is for others, such as the owner of the topic: do not offer it to this person."
        case .sessionNotFound: "The session is unknown, or more than a day old: begin another one."
        case .jobNotFound: "The job is unknown, deleted, or more than a day old: remove it from the screen."
        case .topicNotFound: "There is no such topic, or the person is no member: fetch `GET /v1/topics` again."
        case .deviceNotRegistered: "Register the phone by `POST /v1/users/device-token`, then send the request again."
        case .reauthenticationRequired: "Sign in again, and send the request within five minutes."
        case .useDPoPNonce: "Send the request again, with a proof whose `nonce` is the response's `DPoP-Nonce`."
        case .invalidDPoPProof: "A mistake of the app, which the message names; or the key is not the sign-in's: sign in again."
        case .deviceKeyRequired: "Send a proof of the device's key (`DPoP`); without a key in the sign-in, sign in again with one."
        case .verificationRequired:
            "Show the `reference`, let the person enter the code beside it in the mail, and send the request again with the `code`; or "
                + "without one, until the person has confirmed the sign-in on another device."
        case .alreadyEnrolled: "The address has an account: sign in, or recover it."
        case .nameTaken: "The name belongs to another owner: choose another one."
        case .notificationNotFound: "The notification is unknown, or another app's."
        case .alreadySent: "It is too late to cancel it."
        case .faceInUse: "Another account has the face: sign in to that one."
        case .rateLimited: "Wait for `retry_after` seconds, then send the request again."
        case .accountLocked:
            "Show the person when `retry_after` seconds are over; then a sign-in with new photos can succeed. Or prove the e-mail, and "
                + "send the enrolment token with the sign-in."
        case .limitReached: "The person has as many as there may be: remove one first, or begin again where the message says so."
        case .requestInProgress: "The first request with the key is under way: wait for `retry_after` seconds, then send it again."
        case .idempotencyKeyReused: "A mistake of the app: another request needs another key."
        case .internal: "Something went wrong on our side: send the request again later, with the same key; report its `requestId`."
        case .overloaded, .unavailable: "Wait for `retry_after` seconds, then send the request again."
        }
    }
}
