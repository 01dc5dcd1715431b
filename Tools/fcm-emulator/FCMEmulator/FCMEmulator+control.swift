public import FoundationEssentials

/// What the control API does, without the detour over HTTP.
extension FCMEmulator {
    // MARK: Registrations

    /// Hands out a registration token; `fid` makes it one of an installation that is known already.
    public func mintToken(platform: DevicePlatform = .ios, project: String? = nil, fid: String? = nil) -> String {
        core.registrations.mintToken(platform: platform, project: project, fid: fid)
    }

    /// Hands out a Firebase installation id; `fid` makes it that of an app which has had a token so far.
    public func mintFID(platform: DevicePlatform = .ios, project: String? = nil, fid: String? = nil) -> String {
        core.registrations.mintFID(platform: platform, project: project, fid: fid)
    }

    /// Makes a registration dead: later sends are refused as `UNREGISTERED`.
    public func deleteToken(_ token: String) { core.registrations.delete(token) }

    /// Gives an app another token; the old one is dead. Nil when that was not alive.
    public func rotateToken(_ token: String) -> String? { core.registrations.rotate(token) }

    /// Makes a dead registration valid again, as was seen to happen when its app is opened; false when it is unknown.
    @discardableResult
    public func reviveToken(_ token: String) -> Bool { core.registrations.revive(token) }

    /// How many registrations were sent how many messages since the start.
    public var acceptedCounts: [Int: Int] { core.registrations.acceptedCounts }

    // MARK: Messages

    /// The messages accepted for a registration (nil: all), once there are `count` or the time is over.
    public func messages(
        to registration: String? = nil, atLeast count: Int = 0, within patience: Duration = .zero
    ) async -> [ReceivedMessage] {
        await core.inbox.messages(to: registration, atLeast: count, within: patience)
    }

    /// Forgets all messages accepted so far, and the log of requests.
    public func clearMessages() {
        core.inbox.clear()
        core.requests.clear()
        core.registrations.resetCounts()
    }

    // MARK: Faults and time

    /// Makes coming requests fail; false when there are too many rules.
    @discardableResult
    public func addFault(_ rule: FaultRule) -> Bool { core.faults.add(rule, now: core.clock.now) != nil }

    /// Ends all faults.
    public func clearFaults() { core.faults.removeAll() }

    /// Moves the emulator's clock on: tokens, quota and the windows of faults go by it.
    public func advanceClock(seconds: Double) { core.clock.advance(seconds: seconds) }

    /// Sets the quota (nil: none) and fills its bucket.
    public func setQuota(perMinute: Int?) { core.quota.set(perMinute: perMinute) }

    // MARK: Access tokens and connections

    /// Issues an access token without an assertion: for tests that are about something else.
    public func issueAccessToken() -> String {
        let lifetime = Double(configuration.accessTokenLifetimeSeconds)
        return core.accessTokens.issue(expires: core.clock.now.addingTimeInterval(lifetime))
    }

    /// Makes all access tokens issued so far invalid.
    public func revokeAccessTokens() { core.accessTokens.revokeAll() }

    /// Cuts every connection, without a word; new ones are accepted.
    public func dropConnections() { core.connections.closeAll() }

    // MARK: Figures

    /// How much it has been asked since its start.
    public var statistics: FCMEmulatorStatistics { core.statistics }

    /// The newest requests that were refused as bad (HTTP 400): why, and the start of their bodies.
    public var badRequests: [(reason: String, body: String)] {
        core.requests.newest(1_000) { $0.status == 400 && $0.refusal != nil }.map { record in
            (record.refusal?.message ?? "", String(decoding: record.body ?? [], as: UTF8.self))
        }
    }

    /// When the requests that are kept in the log came, and whether each was accepted.
    public func requestTimes(to registration: String) -> [(at: Date, isAccepted: Bool)] {
        core.requests.newest(.max) { $0.registration == registration }.map { ($0.at, $0.isAccepted) }
    }
}
