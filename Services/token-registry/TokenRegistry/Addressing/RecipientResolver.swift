internal import FoundationEssentials
internal import HeliographCrypto
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Finds the installations of recipients, with one query a kind of recipient and batch.
struct RecipientResolver {
    /// What was found for one notification.
    enum Resolution: Sendable {
        /// The installations to push to; at least one.
        case installs([PushInstall])
        /// Everybody in a topic, who are too many to be found at once.
        case fanOut(Topic)
        /// There is none.
        case skipped(SkipReason)
    }

    let transaction: PostgresTransaction
    let sealer: Sealer
    /// The HMAC key of installation ids; 32 bytes.
    let lookupKey: [UInt8]

    /// Resolves the recipients of a batch.
    ///
    /// - Returns: A resolution for every recipient given.
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
        for topic in try await TopicRepository(transaction).find(names: Array(topics.keys)) {
            if let recipient = topics[topic.name] { resolutions[recipient] = .fanOut(topic) }
        }
        return resolutions
    }

    /// A session's push goes to the device that started it: its token is in the session, and is registered here.
    private func resolve(sessions ids: [UUID]) async throws -> [UUID: Resolution] {
        var resolutions: [UUID: Resolution] = [:]
        for id in ids { resolutions[id] = .skipped(.sessionUnknown) }
        var registrations: [UUID: PushRegistration] = [:]
        for session in try await SessionRepository(transaction).find(ids: ids) {
            switch registration(of: session) {
            case .success(let registration): registrations[session.id] = registration
            case .failure(let skip): resolutions[session.id] = .skipped(skip.reason)
            }
        }
        let installs = try await PushInstallRepository(transaction).upsertSeen(Array(registrations.values))
        let byKey = Dictionary(installs.map { ($0.installationKey, $0) }) { first, _ in first }
        for (id, registration) in registrations {
            guard let install = byKey[registration.installationKey], install.isReachable(on: .urgent) else {
                resolutions[id] = .skipped(.tokenDead)
                continue
            }
            resolutions[id] = .installs([install])
        }
        return resolutions
    }

    private func resolve(users ids: [UUID]) async throws -> [UUID: Resolution] {
        let installs = try await PushInstallRepository(transaction).findReachable(userIDs: ids)
        var byUser: [UUID: [PushInstall]] = [:]
        for install in installs {
            if let user = install.userID { byUser[user, default: []].append(install) }
        }
        return Dictionary(
            uniqueKeysWithValues: ids.map { ($0, byUser[$0].map(Resolution.installs) ?? .skipped(.noInstallation)) })
    }

    private func resolve(installations ids: [UUID]) async throws -> [UUID: Resolution] {
        let installs = try await PushInstallRepository(transaction).find(ids: ids)
        let reachable = installs.filter { $0.userID != nil && $0.isReachable(on: .urgent) }
        let byID = Dictionary(uniqueKeysWithValues: reachable.map { ($0.id, $0) })
        return Dictionary(
            uniqueKeysWithValues: ids.map { id in (id, byID[id].map { .installs([$0]) } ?? .skipped(.noInstallation)) })
    }

    private struct Skip: Error {
        let reason: SkipReason
    }

    /// Opens the token of a session, and seals it anew for the installation it belongs to.
    private func registration(of session: Session) -> Result<PushRegistration, Skip> {
        guard let sealed = session.pushTokenSealed else { return .failure(Skip(reason: .tokenMissing)) }
        do {
            let token = try sealer.open(sealed, context: SealingContext.sessionPushToken(sessionID: session.id))
            guard let target = PushTarget(String(decoding: token, as: UTF8.self)) else {
                return .failure(Skip(reason: .tokenMalformed))
            }
            let key = HMACSHA256.authenticate(target.installationKeyMessage, key: lookupKey)
            return .success(
                PushRegistration(
                    installationKey: key, kind: target.kind,
                    valueSealed: try sealer.seal(
                        Array(target.value.utf8), context: SealingContext.pushInstall(installationKey: key)),
                    valueHash: HMACSHA256.authenticate(target.valueHashMessage, key: lookupKey),
                    seenAt: session.createdAt))
        } catch {
            return .failure(Skip(reason: .tokenUnreadable))
        }
    }
}
