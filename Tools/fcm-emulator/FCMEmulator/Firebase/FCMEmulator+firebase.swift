import FoundationEssentials

/// The operations on ID tokens of the control API, called directly instead of over HTTP.
extension FCMEmulator {
    /// The URL of the keys that ID tokens are signed with.
    public var idTokenKeysURL: String { "\(url)/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com" }

    /// Issues an ID token. CPU-bound: about a millisecond.
    public func issueIDToken(_ order: IDTokenOrder) async throws -> String {
        try await order.sign(with: core.idTokens, project: configuration.projectID, now: core.clock.now)
    }

    /// Signs ID tokens with a new key from now on; the old one stays published for a time, by the emulator's clock.
    public func rotateIDTokenKey(publishingOldForSeconds seconds: Double = 3_600) async throws {
        _ = try await core.idTokens.rotate(publishingOldUntil: core.clock.now.addingTimeInterval(seconds))
    }
}
