import Foundation

@testable import MobileClient

extension GoldenExchange {
    private static let session = GoldenFile.id("session")
    private static let tokens = AccountTokens(
        accessToken: GoldenFile.token, refreshToken: GoldenFile.token, expiresIn: GoldenFile.seconds, userID: GoldenFile.id().wireText)

    private static func status(wait: Int = 30) -> APIRequest<EKYCSessionReducer.Verdict> {
        let time = TimeSource(now: { GoldenFile.time }, sleep: { _ in })
        return EKYCRequests.status(session, token: "token-session", wait: wait, time: time)
    }

    private static func redeem() -> APIRequest<AccountTokens> { EKYCRequests.redeem(session, token: "token-session") }

    /// The reasons for which a sign-in fails, and the attempts that are left then.
    private static let reasons: [(String, Int)] = [
        ("no_face", 5), ("multiple_faces", 5), ("face_too_small", 5), ("low_quality", 5), ("invalid_image", 5), ("pose_mismatch", 5),
        ("inconsistent_faces", 5), ("duplicate_images", 5), ("replayed_image", 5), ("liveness_failed", 4), ("no_match", 4),
        ("already_enrolled", 5), ("face_in_use", 5), ("timeout", 5), ("internal", 5),
    ]

    /// The bad photos of these failures.
    private static let photos: [String: [EKYCSession.BadPhoto]] = [
        "no_face": [.init(.faces, 2, [.noFace])], "multiple_faces": [.init(.faces, 0, [.severalFaces])],
        "face_too_small": [.init(.faces, 0, [.tooSmall]), .init(.faces, 1, [.tooSmall])],
        "low_quality": [.init(.faces, 0, [.tooDark, .blurred]), .init(.faces, 2, [.cutOff])],
        "invalid_image": [.init(.faces, 1, [.undecodable]), .init(.faces, 2, [.undecodable])],
        "duplicate_images": [.init(.faces, 1, [.looksLikeAnotherPhoto])],
    ]

    private static let failures = reasons.map { reason, left in
        let isRetryable = !["already_enrolled", "face_in_use"].contains(reason)
        let liveness: EKYCSession.Liveness = reason == "liveness_failed" ? .failed : .notPerformed
        return answer(
            "ekyc-session-failed-\(reason)", status(),
            is: .failed(
                .init(
                    .init(rawValue: reason), isRetryable: isRetryable, attemptsLeft: left, liveness: liveness, photos: photos[reason] ?? [])
            ))
    }

    /// Sessions of sign-ups and sign-ins, and their tokens.
    static let sessions: [GoldenExchange] =
        [
            .answer("ekyc-challenge", EKYCRequests.challenge(), makesKey: true) {
                $0.id == GoldenFile.token && $0.poses == [.right, .right, .right] && $0.expiresAt == GoldenFile.time && $0.validFor == .zero
            },
            .refusal("ekyc-challenge-rate-limited", EKYCRequests.challenge(), makesKey: true, .rateLimited, waits: true),
            .answer(
                "ekyc-session-failed-locked", status(),
                is: .failed(.init(.noMatch, isRetryable: false, attemptsLeft: 0, retryAt: GoldenFile.time))),
            .answer("ekyc-session-received", status(wait: 0), is: .undecided),
            .answer("ekyc-session-processing", status(wait: 0), is: .undecided),
            .answer("ekyc-session-succeeded", status(), is: .succeeded(awaiting: nil)),
            .answer(
                "ekyc-session-awaits-verification", status(),
                is: .succeeded(awaiting: EKYCSession.AwaitedCode(verificationID: session, reference: GoldenFile.reference))),
            .answer("ekyc-session-expired", status(), is: .expired),
            .refusal("ekyc-session-unauthorized", status(wait: 0), .unauthorized),
            .refusal("ekyc-session-not-found", status(wait: 0), .sessionNotFound),
            .answer("ekyc-redeem", redeem(), makesKey: true, is: tokens),
            .refusal("ekyc-redeem-in-progress", redeem(), makesKey: true, .requestInProgress, waits: true),
            .refusal("ekyc-login-invalid-photo-count", status(), isSent: false, .invalidPhotoCount, field: "faces"),
            .refusal("ekyc-login-invalid-image", status(), isSent: false, .invalidImage, field: "faces"),
            .refusal("ekyc-login-too-large", status(), isSent: false, .payloadTooLarge, field: "faces"),
            .refusal("ekyc-redeem-forbidden", redeem(), makesKey: true, .forbidden),
        ] + failures
}
