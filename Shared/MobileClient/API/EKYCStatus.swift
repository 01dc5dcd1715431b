internal import Foundation

/// The API's answer about a session by face.
struct EKYCStatus: Decodable {
    var sessionID: UUID
    private var state: String
    private var reason: String?
    private var isRetryable: Bool?
    private var attemptsLeft: Int?
    private var retryAt: Date?
    private var verificationID: UUID?
    private var reference: String?
    private var liveness: String?
    private var photos: [EKYCSession.BadPhoto]?
    private var retakeUntil: Date?

    private enum CodingKeys: String, CodingKey {
        case sessionID = "session_id"
        case state, reason, reference, liveness, photos
        case isRetryable = "retryable"
        case attemptsLeft = "attempts_left"
        case retryAt = "retry_at"
        case verificationID = "verification_id"
        case retakeUntil = "retake_until"
    }

    /// More photos than any upload has.
    private static let maxPhotos = 16
    private static let maxProblems = 16

    /// What the answer says. A state that this version does not know is not one of the ends.
    ///
    /// - Parameters:
    ///   - now: The time by the device's clock.
    ///   - apiTime: The time of the answer by the API's clock; nil where it does not say.
    func verdict(at now: Date, _ apiTime: Date?) -> EKYCSessionReducer.Verdict {
        switch state {
        case "succeeded":
            .succeeded(
                awaiting: verificationID.map { id in
                    EKYCSession.AwaitedCode(verificationID: id, reference: reference?.cut(toBytes: 100))
                })
        case "failed":
            .failed(
                EKYCSession.Failure(
                    reason.map { EKYCSession.Reason(rawValue: $0.cut(toBytes: 100)) } ?? .internal, isRetryable: isRetryable ?? true,
                    attemptsLeft: attemptsLeft, retryAt: retryAt,
                    liveness: liveness.map { EKYCSession.Liveness(rawValue: $0.cut(toBytes: 100)) } ?? .notPerformed,
                    photos: badPhotos, retakeUntil: endOfRetakes(at: now, apiTime)))
        case "expired": .expired
        default: .undecided
        }
    }

    private var badPhotos: [EKYCSession.BadPhoto] {
        (photos ?? []).prefix(Self.maxPhotos).map { photo in
            EKYCSession.BadPhoto(
                .init(rawValue: photo.field.rawValue.cut(toBytes: 100)), photo.index,
                photo.problems.prefix(Self.maxProblems).map { .init(rawValue: $0.rawValue.cut(toBytes: 100)) })
        }
    }

    /// Until when the photos can be retaken, by the device's clock; nil where they cannot.
    private func endOfRetakes(at now: Date, _ apiTime: Date?) -> Date? {
        // Of a list that is cut no retake has all photos.
        guard let retakeUntil, let photos, 1...Self.maxPhotos ~= photos.count else { return nil }
        let left = retakeUntil.timeIntervalSince(apiTime ?? now)
        return left > 0 ? now.addingTimeInterval(min(left, EKYCSessionReducer.maxRetakeTime)) : nil
    }
}
