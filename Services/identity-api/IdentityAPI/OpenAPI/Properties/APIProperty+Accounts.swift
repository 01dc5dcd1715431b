internal import JSON

extension APIProperty {
    private static let codeEnd = "Seconds after which the code ends, that of the next mail if one is to come; 0 without attempts"

    /// Accounts, their e-mail addresses and tokens.
    static let accounts: [String: APIProperty] = [
        "user_id": .init("The account", "3f6c1a9e-5d1b-4a0e-8f7c-2b9d4e6a8c10"),
        "email": .init("The e-mail address", "ada@example.org"),
        "display_name": .init("The name that others see; null for none", "Ada"),
        "verification_id": .init("The proof of an e-mail address that is under way", "9a1e7c53-3c2f-4f6d-9b80-6d5e4f3a2b1c"),
        "reference": .init("Show it where the code is entered: the mail has it beside the code", "KFTM"),
        "mail_after": .init("Seconds within which the mail is sent; 0 when it was", 0),
        "verifyEmail.code": .init("The code from the mail", "482913"),
        "redeemSession.code": .init("The code from the mail, on a device that is new to the account", "482913"),
        "purpose": .init("What the code was for"),
        "enrolment_token": .init("The bearer of sign-ups with the proven address, for 15 minutes", "he_5Qx0Jx3yq1Fz"),
        "face_enrolled": .init(
            "Whether the account has a face: its first e-mail removes one from before, and the app enrols another", true),
        "expires_in": .init("Seconds for which it is valid", 600),
        "resend_after": .init(
            "Seconds after which another mail can be asked for; after the fifth code of a verification, for another one", 60),
        "registerEmail.expires_in": .init(codeEnd, 600),
        "resendCode.expires_in": .init(codeEnd, 600),
        "changeEmail.expires_in": .init(codeEnd, 600),
        "access_token": .init("The bearer of the account's requests", "ha_3kJ8fXw0Zr5v"),
        "refreshTokens.expires_in": .init("Seconds for which the access token is valid", 3_600),
        "redeemSession.expires_in": .init("Seconds for which the access token is valid", 3_600),
        "refresh_token": .init("What gets the next tokens, once", "hr_9mT2cVq7Yb1s"),
        "token_type": .init("How the token is sent"),
        "devices": .init("The number of phones that have registered, also of those that get no pushes any more", 2),
        "sessions": .init("The number of sign-ins", 2),
        "topics": .init("The number of topics", 3),
        "face": .init("The face by which the account signs in; null for none"),
        "enrolled_at": .init("When the first face was taken"),
        "replaced_at": .init("When the face was replaced; null if it was not", .null),
        "model": .init("The model of the face's template", "sface-2021dec"),
        "recovery_takes_effect_at": .init("When a recovery replaces the face; null without a recovery", "2025-10-28T10:00:00Z"),
        "takes_effect_at": .init("When the recovery replaces the face"),
        "getRecovery.state": .init("Whether a recovery waits"),
        "identity_providers": .init("The providers by whose ID tokens the account signs in", []),
        "consent": .init("What was consented to; null for nothing"),
        "consent_version": .init("The version of the text that is agreed to", "2026-01"),
        "consent_sha256": .init("The SHA-256 of the text in UTF-8, in hexadecimal digits", consentHash),
        "given_at": .init("When the consent was given"),
        "required": .init("Whether a sign-up needs the consent"),
        "getConsent.text": .init("The text to show", consentText),
        "listSignIns.sessions": .init("The sign-ins, the last used first"),
        "listSignIns.session_id": .init("The sign-in, to end it", "c0a8b7d6-1e2f-4a3b-9c8d-7e6f5a4b3c2d"),
        "sign_ins": .init("The sign-ins on new devices that wait, the newest first"),
        "confirmSignIn.reference": .init("The four letters that the new device shows, as the person typed them", "KFTM"),
        "listSignInConfirmations.created_at": .init("When the new device asked for its tokens"),
        "listSignInConfirmations.expires_in": .init("Seconds for which it can be confirmed", 540),
        "device": .init("What the app has said of its phone"),
        "last_used_at": .init("When it signed in or renewed its tokens last", "2025-10-27T11:00:00Z"),
        "listSignIns.expires_at": .init("When it ends if it is not used", "2025-11-26T11:00:00Z"),
        "current": .init("Whether it is the one that asks"),
        "erasure_id": .init("The erasure", "7d3c2b1a-0f9e-4d8c-b7a6-95847362514f"),
        "receipt_token": .init("The bearer of the receipt, shown once", "hx_1nB6gKd4Lp8a"),
        "receipt_url": .init("The path of the receipt", "/v1/users/me/erasure/7d3c2b1a-0f9e-4d8c-b7a6-95847362514f"),
        "scope": .init("What is erased"),
        "requested_at": .init("When it was asked for"),
        "receipt": .init("The signed receipt, a JWS; null before everything is erased", "eyJhbGciOiJFZERTQSJ9.e30.c2ln"),
        "services": .init("What each service has erased"),
        "service": .init("The service", "image-worker"),
        "finished": .init("Whether it has erased everything"),
        "erased": .init("The numbers of what was erased, by kind"),
        "keys": .init("The public keys, as in RFC 7517"),
    ]

    /// A text to agree to, and its SHA-256.
    static let consentText: JSONValue = "I agree that my face is processed."
    static let consentHash: JSONValue = "bc127fc5eb367d09fd016288618eb74e75123fe7d08fcb9a270ed85d826c5899"

    /// Sign-ups and sign-ins by face.
    static let faces: [String: APIProperty] = [
        "session_id": .init("The face session", "1b4e28ba-2fa1-4d2b-883f-0016d3cca427"),
        "fcm_token": .init(
            "The registration token of FCM; missing or empty for a phone without pushes", pushToken),
        "issueChallenge.expires_at": .init("When the upload has to begin", "2025-10-27T10:01:30Z"),
        "faces": .init("Three photos of the face from the front; with a challenge, in the order of its poses"),
        "left_faces": .init("Three photos with the head turned to the person's own left"),
        "right_faces": .init("Three photos with the head turned to the person's own right"),
        "front_faces": .init("Three photos from the front"),
        "challenge_photos": .init("Three photos in the order of the challenge's poses"),
        "challenge_id": .init(
            "The challenge that the photos answer", .string(String(repeating: "A", count: ChallengeTokens.length))),
        "poses": .init("What to show, one after the other", ["left", "nearer", "front"]),
        "recovery": .init("`true` replaces the face of the proven address's account, after a day"),
        "event": .init("What the session is for"),
        "reason": .init("Why it failed"),
        "attempts_left": .init(
            "How many more attempts may fail: sign-ins before a lock, or entries of a code. With 0 nothing is retryable", 4),
        "retry_at": .init("When a sign-in can succeed again; with 0 `attempts_left` only"),
        "getSession.photos": .init("The bad photos, each with all its problems; only of a failure that the photos alone show"),
        "retake_of": .init(
            "The failed session whose bad photos alone are sent, in the order of its `photos`; its token is in `X-Session-Token`"),
        "retake_until": .init("Until then only the bad photos need be sent again, by `retake_of`"),
        "getSession.field": .init("The form field of the photo", "left_faces"),
        "getSession.index": .init("The place of the photo among the files of the field, counted from 0", 1),
        "problems": .init("What is wrong with the photo"),
        "getSession.retryable": .init("Whether another attempt, with other photos, can succeed at once; as of `completed_at`"),
        "liveness": .init("Whether the photos show a live person, as far as that was looked at"),
    ]
}
