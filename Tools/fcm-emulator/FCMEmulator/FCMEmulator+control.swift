public import FoundationEssentials

/// The operations of the control API, called directly instead of over HTTP.
extension FCMEmulator {
    // MARK: Registrations

    /// Issues a registration token; `fid` makes it a token of an installation that is known already.
    public func mintToken(platform: DevicePlatform = .ios, project: String? = nil, fid: String? = nil) -> String {
        core.registrations.mintToken(platform: platform, project: project, fid: fid)
    }

    /// Issues a Firebase installation id; with `fid`, the id of an app that has had a token so far.
    public func mintFID(platform: DevicePlatform = .ios, project: String? = nil, fid: String? = nil) -> String {
        core.registrations.mintFID(platform: platform, project: project, fid: fid)
    }

    /// Deletes a registration: after `unregisterLagSends` more sends, later ones are refused as `UNREGISTERED`.
    public func deleteToken(_ token: String) { core.registrations.delete(token) }

    /// Issues another token to an app and deletes the old one. Nil when that is unknown or was deleted before.
    public func rotateToken(_ token: String) -> String? { core.registrations.rotate(token) }

    /// Makes a dead registration valid again, as observed when its app is opened; false when it is unknown.
    @discardableResult
    public func reviveToken(_ token: String) -> Bool { core.registrations.revive(token) }

    /// Number of registrations by the number of messages each was sent since the start or the last ``clearMessages()``.
    public var acceptedCounts: [Int: Int] { core.registrations.acceptedCounts }

    // MARK: Messages

    /// Returns the messages accepted for a registration (nil: all), once there are `count` or the time is over.
    public func messages(
        to registration: String? = nil, atLeast count: Int = 0, within patience: Duration = .zero
    ) async -> [ReceivedMessage] {
        await core.inbox.messages(to: registration, atLeast: count, within: patience)
    }

    /// Removes all accepted messages and the log of requests, and resets ``acceptedCounts``.
    public func clearMessages() { core.clearMessages() }

    // MARK: Mails

    /// Returns the mails accepted for an address (nil: all), once there are `count` or the time is over.
    public func mails(to address: String? = nil, atLeast count: Int = 0, within patience: Duration = .zero) async -> [ReceivedMail] {
        await core.mailbox.mails(to: address, atLeast: count, within: patience).mails
    }

    /// Removes all accepted mails.
    public func clearMails() { core.mailbox.clear() }

    // MARK: Faults and time

    /// Adds a fault rule for later requests; false when there are too many rules.
    @discardableResult
    public func addFault(_ rule: FaultRule) -> Bool { core.faults.add(rule, now: core.clock.now) != nil }

    /// Removes all fault rules.
    public func clearFaults() { core.faults.removeAll() }

    /// Moves the emulator's clock forward: tokens, the quota and the time windows of faults use it.
    public func advanceClock(seconds: Double) { core.clock.advance(seconds: seconds) }

    /// Sets the quota (nil: none) and fills its bucket.
    public func setQuota(perMinute: Int?) { core.quota.set(perMinute: perMinute) }

    // MARK: Access tokens and connections

    /// Issues an access token without an assertion, for tests of other behaviour.
    public func issueAccessToken() -> String {
        let lifetime = Double(configuration.accessTokenLifetimeSeconds)
        return core.accessTokens.issue(expires: core.clock.now.addingTimeInterval(lifetime))
    }

    /// Makes all access tokens issued so far invalid.
    public func revokeAccessTokens() { core.accessTokens.revokeAll() }

    /// Closes every connection without notice; new ones are accepted.
    public func dropConnections() {
        core.connections.closeAll()
        core.mailConnections.closeAll()
    }

    // MARK: Statistics

    /// The counters since the start.
    public var statistics: FCMEmulatorStatistics { core.statistics }

    /// The newest requests that were refused as bad (HTTP 400), at most 1,000: their reasons, and the starts of their bodies.
    public var badRequests: [(reason: String, body: String)] {
        core.requests.newest(1_000) { $0.status == 400 && $0.refusal != nil }.map { record in
            (record.refusal?.message ?? "", String(decoding: record.body ?? [], as: UTF8.self))
        }
    }

    /// The arrival times of the logged requests to a registration, and whether each was accepted.
    public func requestTimes(to registration: String) -> [(at: Date, isAccepted: Bool)] {
        core.requests.newest(.max) { $0.registration == registration }.map { ($0.at, $0.isAccepted) }
    }
}
