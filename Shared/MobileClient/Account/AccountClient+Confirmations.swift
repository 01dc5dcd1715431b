public import Foundation

/// Sign-ins on new devices, which this device confirms in place of the code that was mailed.
extension AccountClient {
    /// A sign-in on a new device that waits. What the new device shows is not part of it: the person reads it there.
    public struct WaitingSignIn: Sendable, Equatable, Identifiable, Decodable {
        /// The session of the new device, as the push ``PushMessage/Kind/signInConfirmation(sessionID:)`` names it.
        public let id: UUID
        /// When the person was asked for a code.
        public let createdAt: Date
        /// The seconds for which it can be confirmed.
        public let expiresIn: Int

        enum CodingKeys: String, CodingKey {
            case id = "session_id"
            case createdAt = "created_at"
            case expiresIn = "expires_in"
        }
    }

    /// Fetches the sign-ins that wait for a code or a confirmation, the newest first, 20 at most. One push may stand for several.
    public func waitingSignIns() async throws(HeliographError) -> [WaitingSignIn] { try await api.send(ConfirmationRequests.list()) }

    /// Confirms a sign-in: the new device gets its tokens. Needs a sign-in here with a key of the device.
    ///
    /// - Parameters:
    ///   - id: The session of the new device.
    ///   - reference: The four letters that the new device shows, as the person has typed them here. An app that offers letters to choose
    ///     from lets the person confirm a stranger's sign-in by mistake.
    /// - Throws: `invalid_code` with the attempts that are left for other letters; `not_found` if the sign-in does not wait any more;
    ///   `device_key_required` if this device has signed in without a key.
    public func confirmSignIn(_ id: UUID, reference: String) async throws(HeliographError) {
        try await api.send(ConfirmationRequests.confirm(id, reference: try ArgumentLimits.reference(reference)))
    }

    /// Denies a sign-in: the new device gets no tokens, whatever is entered. Also succeeds when it was denied before.
    ///
    /// The person should know that their photos were used: offer ``endOtherSignIns()``.
    public func denySignIn(_ id: UUID) async throws(HeliographError) { try await api.send(ConfirmationRequests.deny(id)) }
}
