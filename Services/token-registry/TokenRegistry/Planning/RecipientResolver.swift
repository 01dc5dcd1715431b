internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Finds the installations of recipients, with one query per kind of recipient and batch.
struct RecipientResolver {
    /// The result for one recipient.
    enum Resolution: Sendable {
        /// Its installations, possibly none; the lane decides which of them get a push.
        case addresses([InstallAddress])
        /// The installations of a topic's members; nil when there are too many members for one query.
        case topic(Topic, [InstallAddress]?)
        /// The recipient cannot be resolved.
        case skipped(SkipReason)
    }

    /// The most members of a topic that is not fanned out page by page.
    static let maxTopicMembers = 500
    /// The most members of all topics of a batch that are resolved at once.
    private static let maxBatchMembers = 5_000

    let transaction: PostgresTransaction
    let sealer: Sealer
    /// The HMAC key of installation ids; 32 bytes.
    let lookupKey: [UInt8]

    /// Resolves the recipients of a batch.
    ///
    /// - Returns: A resolution for every given recipient.
    func resolve(_ recipients: Set<NotificationRecipient>) async throws -> [NotificationRecipient: Resolution] {
        var resolutions: [NotificationRecipient: Resolution] = [:]
        var sessions: [UUID: NotificationRecipient] = [:]
        var users: [UUID: NotificationRecipient] = [:]
        var installations: [UUID: NotificationRecipient] = [:]
        var topics: [TopicName: NotificationRecipient] = [:]
        for recipient in recipients {
            resolutions[recipient] = .skipped(.recipientUnsupported)
            switch (recipient.type, UUID(uuidString: recipient.id)) {
            case (.session, let id?): sessions[id] = recipient
            case (.user, let id?): users[id] = recipient
            case (.installation, let id?): installations[id] = recipient
            case (.topic, _): if let name = TopicName(recipient.id) { topics[name] = recipient }
            case (.session, nil), (.user, nil), (.installation, nil): break
            }
        }
        for (id, resolution) in try await resolve(sessions: Array(sessions.keys)) {
            if let recipient = sessions[id] { resolutions[recipient] = resolution }
        }
        for (id, resolution) in try await resolve(users: Array(users.keys)) {
            if let recipient = users[id] { resolutions[recipient] = resolution }
        }
        for (id, resolution) in try await resolve(installations: Array(installations.keys)) {
            if let recipient = installations[id] { resolutions[recipient] = resolution }
        }
        for recipient in topics.values { resolutions[recipient] = .skipped(.topicEnded) }
        for (topic, addresses) in try await resolve(topics: Array(topics.keys)) {
            if let recipient = topics[topic.name] { resolutions[recipient] = .topic(topic, addresses) }
        }
        return resolutions
    }

    /// The token of a session, and its registration as the installation it belongs to.
    private struct SessionToken {
        let session: Session
        let target: PushTarget
        let registration: PushRegistration
    }

    /// Resolves sessions to the devices that started them: the token is in the session, and is registered here. Where the installation
    /// is bound to a user with another token, which an unproven session must not replace, the token is registered as an unbound
    /// installation for this push, deleted when a sign-in is redeemed or, like all unbound ones, after
    /// ``PushInstallLimits/unboundAge``.
    private func resolve(sessions ids: [UUID]) async throws -> [UUID: Resolution] {
        var resolutions: [UUID: Resolution] = [:]
        for id in ids { resolutions[id] = .skipped(.sessionUnknown) }
        var tokens: [UUID: SessionToken] = [:]
        for session in try await SessionRepository(transaction).find(ids: ids) {
            switch token(of: session) {
            case .success(let token): tokens[session.id] = token
            case .failure(let skip): resolutions[session.id] = .skipped(skip.reason)
            }
        }
        let installs = PushInstallRepository(transaction)
        var byKey: [[UInt8]: PushInstall] = [:]
        for install in try await installs.upsertSeen(tokens.values.map(\.registration)) {
            byKey[install.installationKey] = install
        }
        var unbound: [UUID: PushRegistration] = [:]
        for (id, token) in tokens {
            guard let install = byKey[token.registration.installationKey], token.registration.conflictsWithOwner(of: install) else {
                continue
            }
            unbound[id] = try registration(of: token.target, as: token.target.unboundKeyInput, token.session)
        }
        for install in try await installs.upsertSeen(Array(unbound.values)) { byKey[install.installationKey] = install }
        for (id, token) in tokens {
            let registration = unbound[id] ?? token.registration
            guard let install = byKey[registration.installationKey], install.address.isReachable(on: .urgent) else {
                resolutions[id] = .skipped(.tokenDead)
                continue
            }
            resolutions[id] = .addresses([install.address])
        }
        return resolutions
    }

    private func resolve(users ids: [UUID]) async throws -> [UUID: Resolution] {
        var byUser: [UUID: [InstallAddress]] = [:]
        for address in try await PushInstallRepository(transaction).addresses(userIDs: ids) {
            if let user = address.userID { byUser[user, default: []].append(address) }
        }
        return Dictionary(uniqueKeysWithValues: ids.map { ($0, .addresses(byUser[$0] ?? [])) })
    }

    private func resolve(installations ids: [UUID]) async throws -> [UUID: Resolution] {
        let installs = try await PushInstallRepository(transaction).find(ids: ids).filter { $0.userID != nil }
        let byID = Dictionary(uniqueKeysWithValues: installs.map { ($0.id, [$0.address]) })
        return Dictionary(uniqueKeysWithValues: ids.map { ($0, .addresses(byID[$0] ?? [])) })
    }

    /// Finds topics, and the installations of small ones, so that a small chat does not wait for a turn of ``TopicFanOutService``.
    private func resolve(topics names: [TopicName]) async throws -> [(Topic, [InstallAddress]?)] {
        let topics = try await TopicRepository(transaction).find(names: names)
        var budget = Self.maxBatchMembers
        let small = topics.filter { topic in
            guard topic.memberCount <= min(Self.maxTopicMembers, budget) else { return false }
            budget -= topic.memberCount
            return true
        }
        let ids = Set(small.map(\.id))
        let addresses = try await PushInstallRepository(transaction).addresses(topicIDs: Array(ids))
        return topics.map { ($0, ids.contains($0.id) ? addresses[$0.id] ?? [] : nil) }
    }

    private struct Skip: Error {
        let reason: SkipReason
    }

    /// Opens the token of a session, and seals it again for the installation it belongs to.
    private func token(of session: Session) -> Result<SessionToken, Skip> {
        guard let sealed = session.pushTokenSealed else { return .failure(Skip(reason: .tokenMissing)) }
        do {
            let token = try sealer.open(sealed, context: SealingContext.sessionPushToken(sessionID: session.id))
            guard let target = PushTarget(String(decoding: token, as: UTF8.self)) else {
                return .failure(Skip(reason: .tokenMalformed))
            }
            let messages = (key: target.installationKeyMessage, valueHash: target.valueHashMessage)
            return .success(
                SessionToken(
                    session: session, target: target, registration: try registration(of: target, as: messages, session)))
        } catch {
            return .failure(Skip(reason: .tokenUnreadable))
        }
    }

    private func registration(
        of target: PushTarget, as messages: (key: [UInt8], valueHash: [UInt8]), _ session: Session
    ) throws -> PushRegistration {
        let key = HMACSHA256.authenticate(messages.key, key: lookupKey)
        let isProven = session.event == .signIn && session.state == .succeeded
        return PushRegistration(
            installationKey: key, kind: target.kind,
            valueSealed: try sealer.seal(Array(target.value.utf8), context: SealingContext.pushInstall(installationKey: key)),
            valueHash: HMACSHA256.authenticate(messages.valueHash, key: lookupKey),
            seenAt: session.createdAt, provenUserID: isProven ? session.userID : nil)
    }
}
