internal import EventBus
internal import FoundationEssentials
internal import HeliographCrypto
internal import Metrics
internal import PostgresClient
internal import Push
internal import WireFormat

/// Claims installations that a user may not have without a proof, and pushes the nonce that the claimant's app has to return.
///
/// The nonce goes to the value that the claimant gave, because the proof is that the claimant's app receives what is sent to it
/// (`docs/adr/0017-installation-hand-over.md`).
struct PossessionCheck: Sendable {
    /// The cause of a claim, for its trace.
    struct Origin: Sendable {
        let requestID: String
        let traceparent: String?
    }

    let keys: AccountKeys

    /// Claims an installation. Call in a transaction, after the claimant's sign-in is locked.
    ///
    /// - Returns: The claim, or an earlier claim that this one repeats; nil when there are too many claims.
    func claim(
        _ registration: PushRegistration, for userID: UUID, signInID: UUID?, from origin: Origin, _ transaction: PostgresTransaction
    ) async throws -> InstallHandOver? {
        let nonce = OpaqueToken.generate()
        let new = NewInstallHandOver(registration: registration, userID: userID, signInID: signInID, nonceHash: nonce.hash)
        switch try await InstallHandOverRepository(transaction).open(new) {
        case .opened(let handOver, let installID):
            let push = try push(of: handOver, nonce: nonce.text, to: installID)
            try await OutboxRepository(transaction).publish(
                push, requestID: origin.requestID, traceparent: origin.traceparent, expiresAt: push.expiresAt)
            Self.count("opened")
            return handOver
        case .repeated(let handOver):
            return handOver
        case .limited:
            Self.count("limited")
            return nil
        }
    }

    private func push(of handOver: InstallHandOver, nonce: String, to installID: UUID) throws -> NotificationRequested {
        let id = UUIDv7.generate()
        let push = PossessionCheckPush(handOverID: handOver.id, nonce: try keys.sealedForPush(nonce, .possessionNonce, of: id))
        return push.request(id, to: installID, expiresAt: handOver.expiresAt)
    }

    /// Counts claims of installations by their result.
    static func count(_ outcome: String) {
        Counter(label: "push_install_claims_total", dimensions: [("outcome", outcome)]).increment()
    }
}
