import Foundation

@testable import MobileClient

extension GoldenExchange {
    private static let verification = GoldenFile.id("verification")
    private static let user = GoldenFile.id("user")

    private static func verification(_ id: UUID) -> AccountClient.Verification {
        AccountClient.Verification(
            id: id, reference: GoldenFile.reference, mailAfter: 0, expiresIn: GoldenFile.seconds, resendAfter: GoldenFile.seconds)
    }

    /// Consents and proofs of addresses.
    static let auth: [GoldenExchange] = [
        .answer("consent-none", AuthRequests.consent(), is: nil),
        .answer("consent-required", AuthRequests.consent()) {
            $0?.version == "2026-11" && $0?.sha256.count == 64 && $0?.text == "We keep a template of your face."
        },
        .answer(
            "auth-register", AuthRequests.register(email: "ada@example.org", displayName: "Ada"), is: verification(GoldenFile.id())),
        .refusal(
            "auth-register-invalid-email", AuthRequests.register(email: "ada@-example.org", displayName: nil), .invalidEmail, field: "email"
        ),
        .refusal(
            "auth-register-rate-limited", AuthRequests.register(email: "ada@example.org", displayName: nil), .rateLimited, waits: true),
        .answer("auth-resend", AuthRequests.resend(verification), is: verification(verification)),
        .answer(
            "auth-verify-registration", AuthRequests.verify(verification, code: "123456"), makesKey: true,
            is: .registration(enrolmentToken: GoldenFile.token, expiresIn: GoldenFile.seconds)),
        .answer(
            "auth-verify-enrolment", AuthRequests.verify(verification, code: "123456"), makesKey: true,
            is: .enrolment(userID: GoldenFile.id())),
        .answer(
            "auth-verify-email-change", AuthRequests.verify(verification, code: "123456"), makesKey: true,
            is: .emailChange(userID: user, isFaceEnrolled: false)),
        .refusal(
            "auth-verify-invalid-code", AuthRequests.verify(verification, code: "123456"), makesKey: true, .invalidCode, field: "code"),
        .refusal(
            "auth-verify-already-enrolled", AuthRequests.verify(verification, code: "123456"), makesKey: true, .alreadyEnrolled),
        .refusal("auth-verify-face-in-use", AuthRequests.verify(verification, code: "123456"), makesKey: true, .faceInUse),
        .refusal(
            "auth-verify-missing-code", AuthRequests.verify(verification, code: ""), isSent: false, .missingField, field: "code"),
        .done("auth-log-out", AuthRequests.logOut()),
        .refusal("auth-log-out-again", AuthRequests.logOut(), .unauthorized),
    ]

    /// The account of the person who is signed in.
    static let account: [GoldenExchange] = [
        .answer("account-profile", AccountRequests.profile()) { profile in
            let face = AccountClient.Profile.Face(enrolledAt: GoldenFile.time, replacedAt: nil, model: "model")
            return profile
                == AccountClient.Profile(
                    userID: user, email: "ada@example.org", displayName: "Ada", createdAt: GoldenFile.time, face: face,
                    recoveryTakesEffectAt: GoldenFile.time,
                    consent: .init(version: "2026-11", sha256: profile.consent?.sha256 ?? "", givenAt: GoldenFile.time),
                    identityProviders: [], devices: 1, signIns: 1, topics: 0)
        },
        .answer("account-display-name", AccountRequests.setDisplayName("Ada"), is: .init(userID: user, displayName: "Ada")),
        .answer("account-display-name-none", AccountRequests.setDisplayName(nil), is: .init(userID: user, displayName: nil)),
        .refusal("account-unauthorized", AccountRequests.profile(), .unauthorized),
        .answer("account-recovery-none", AccountRequests.recovery(), is: .init(state: .none, takesEffectAt: nil)),
        .answer("account-recovery-waiting", AccountRequests.recovery(), is: .init(state: .waiting, takesEffectAt: GoldenFile.time)),
        .done("account-recovery-cancel", AccountRequests.cancelRecovery()),
        .answer("account-email-change", AccountRequests.changeEmail(to: "new@example.org"), is: verification(GoldenFile.id())),
        .refusal(
            "account-email-reauthentication-required", AccountRequests.changeEmail(to: "other@example.org"), .reauthenticationRequired),
        .done("account-export", AccountRequests.export()),
        .refusal("account-export-in-progress", AccountRequests.export(), .requestInProgress, waits: true),
        .answer(
            "sign-ins-list", AccountRequests.signIns(),
            is: [
                signIn("sign_in", .init(platform: "android", appVersion: "3.1", locale: "pt-BR", key: "hardware"), isCurrent: false),
                signIn("", .init(platform: nil, appVersion: nil, locale: nil, key: nil), isCurrent: true),
            ]),
        .answer(
            "sign-in-confirmations-list", ConfirmationRequests.list(),
            is: [.init(id: GoldenFile.id("session"), createdAt: GoldenFile.time, expiresIn: GoldenFile.seconds)]),
        .done("sign-in-end", AccountRequests.endSignIn(GoldenFile.id("sign_in"))),
        .refusal("sign-in-unknown", AccountRequests.endSignIn(GoldenFile.id("sign_in")), .notFound),
        .done("sign-ins-end-others", AccountRequests.endSignIns(exceptCurrent: true)),
        .done("sign-ins-end-all", AccountRequests.endSignIns(exceptCurrent: false)),
    ]

    private static func signIn(_ id: String, _ device: AccountClient.SignIn.Device, isCurrent: Bool) -> AccountClient.SignIn {
        AccountClient.SignIn(
            id: GoldenFile.id(id), device: device, createdAt: GoldenFile.time, lastUsedAt: GoldenFile.time, expiresAt: GoldenFile.time,
            isCurrent: isCurrent)
    }
}
