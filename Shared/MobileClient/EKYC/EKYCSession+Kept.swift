internal import Foundation

extension EKYCSession.Outcome {
    /// An outcome as a record has it.
    struct Kept: Codable, Hashable, Sendable {
        private enum Name: String, Codable {
            case enrolled, signedIn, failed, expired, tooLate, refused, outcomeUnknown, superseded, signedOut
        }

        private struct Failure: Codable, Hashable {
            var reason: String
            var isRetryable: Bool
            var attemptsLeft: Int?
            var retryAt: Date?
            var liveness: String
            var photos: [EKYCSession.BadPhoto]?
            var retakeUntil: Date?
        }

        private struct Refusal: Codable, Hashable {
            var code: String
            var message: String
            var status: Int?
            var field: String?
            var requestID: String?
            var retryAfterSeconds: Double?
            var isRetryable: Bool
        }

        private var name: Name
        private var verificationID: UUID?
        private var reference: String?
        private var userID: String?
        private var failure: Failure?
        private var refusal: Refusal?

        init(_ outcome: EKYCSession.Outcome) {
            switch outcome {
            case .enrolled(let awaited):
                (name, verificationID, reference) = (.enrolled, awaited?.verificationID, awaited?.reference)
            case .signedIn(let userID): (name, self.userID) = (.signedIn, userID)
            case .failed(let failure):
                name = .failed
                self.failure = Failure(
                    reason: failure.reason.rawValue, isRetryable: failure.isRetryable, attemptsLeft: failure.attemptsLeft,
                    retryAt: failure.retryAt, liveness: failure.liveness.rawValue,
                    photos: failure.photos.isEmpty ? nil : failure.photos, retakeUntil: failure.retakeUntil)
            case .refused(let error):
                name = .refused
                refusal = Refusal(
                    code: error.code.rawValue, message: error.message, status: error.status, field: error.field,
                    requestID: error.requestID, retryAfterSeconds: error.retryAfter.map { $0 / .seconds(1) },
                    isRetryable: error.isRetryable)
            case .expired: name = .expired
            case .tooLate: name = .tooLate
            case .outcomeUnknown: name = .outcomeUnknown
            case .superseded: name = .superseded
            case .signedOut: name = .signedOut
            }
        }

        /// The outcome; nil when a member of it is missing.
        var outcome: EKYCSession.Outcome? {
            switch name {
            case .enrolled:
                .enrolled(awaiting: verificationID.map { EKYCSession.AwaitedCode(verificationID: $0, reference: reference) })
            case .signedIn: userID.map { .signedIn(userID: $0) }
            case .failed:
                failure.map {
                    .failed(
                        EKYCSession.Failure(
                            EKYCSession.Reason(rawValue: $0.reason), isRetryable: $0.isRetryable, attemptsLeft: $0.attemptsLeft,
                            retryAt: $0.retryAt, liveness: EKYCSession.Liveness(rawValue: $0.liveness), photos: $0.photos ?? [],
                            retakeUntil: $0.retakeUntil))
                }
            case .refused:
                refusal.map {
                    .refused(
                        HeliographError(
                            HeliographError.Code(rawValue: $0.code), $0.message, status: $0.status, field: $0.field,
                            requestID: $0.requestID, retryAfter: $0.retryAfterSeconds.map { .seconds($0) }, isRetryable: $0.isRetryable))
                }
            case .expired: .expired
            case .tooLate: .tooLate
            case .outcomeUnknown: .outcomeUnknown
            case .superseded: .superseded
            case .signedOut: .signedOut
            }
        }
    }
}
