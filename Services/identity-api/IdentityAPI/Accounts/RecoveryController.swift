internal import Accounts
internal import FoundationEssentials
internal import PostgresClient
internal import ServiceDefaults
internal import WireFormat

/// Answers `GET` and `DELETE /v1/users/me/recovery`: the replacement of the account's face that was asked for by e-mail.
struct RecoveryController: Sendable {
    let postgres: PostgresClient

    func get(_ call: UserCall) async throws -> RecoveryStatus {
        RecoveryStatus(takesEffectAt: try await PendingEnrolmentRepository(postgres).recovery(of: call.sender.userID))
    }

    /// Ends a recovery without effect. Any device that is signed in may do it: a user who holds one needs no recovery.
    func cancel(_ call: UserCall) async throws {
        try await postgres.withTransaction { transaction in
            try await RecoveryCancellation.cancel(
                of: call.sender.userID, requestID: call.context.requestID, traceparent: call.context.traceparent, in: transaction)
        }
    }
}

/// Whether a recovery waits, and until when.
struct RecoveryStatus: APIObject {
    enum State: String, APIWord { case none, waiting }

    static let members: [APIMember<RecoveryStatus>] = [.required("state", \.state), .optional("takes_effect_at", \.takesEffectAt)]

    let takesEffectAt: Date?
    var state: State { takesEffectAt == nil ? .none : .waiting }
}
