internal import FoundationEssentials
internal import PostgresClient
internal import Push
internal import Topics
internal import WireFormat

/// Finds the installations of recipients, with one query per kind of recipient and batch.
struct RecipientResolver {
    /// The result for one recipient.
    enum Resolution: Sendable {
        /// Its installations, possibly none; the lane decides which of them get a push.
        case addresses([InstallAddress])
        /// The installations of a topic's members; nil when there are too many members for one query.
        case topic(Topic, [InstallAddress]?)
        /// Users of an app's notification, too many for one query.
        case longList
        /// The recipient cannot be resolved.
        case skipped(SkipReason)
    }

    /// The most members of a topic that is not fanned out in parts.
    static let maxTopicMembers = 500
    /// The most members of all topics of a batch that are resolved at once.
    private static let maxBatchMembers = 5_000

    let transaction: PostgresTransaction

    /// Resolves the recipients of a batch.
    ///
    /// - Returns: A resolution for every given recipient.
    func resolve(_ recipients: Set<NotificationRecipient>) async throws -> [NotificationRecipient: Resolution] {
        var resolutions: [NotificationRecipient: Resolution] = [:]
        var sessions: [UUID: NotificationRecipient] = [:]
        var users: [UUID: NotificationRecipient] = [:]
        var installations: [UUID: NotificationRecipient] = [:]
        var topics: [TopicName: NotificationRecipient] = [:]
        var lists: [UUID: NotificationRecipient] = [:]
        for recipient in recipients {
            resolutions[recipient] = .skipped(.recipientUnsupported)
            switch (recipient.type, UUID(wireString: recipient.id)) {
            case (.session, let id?): sessions[id] = recipient
            case (.user, let id?): users[id] = recipient
            case (.installation, let id?): installations[id] = recipient
            case (.list, let id?): lists[id] = recipient
            case (.topic, _): if let name = TopicName(recipient.id) { topics[name] = recipient }
            case (.session, nil), (.user, nil), (.installation, nil), (.list, nil): break
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
        for (id, resolution) in try await resolve(lists: Array(lists.keys)) {
            if let recipient = lists[id] { resolutions[recipient] = resolution }
        }
        for recipient in topics.values { resolutions[recipient] = .skipped(.topicEnded) }
        for (topic, addresses) in try await resolve(topics: Array(topics.keys)) {
            if let recipient = topics[topic.name] { resolutions[recipient] = .topic(topic, addresses) }
        }
        return resolutions
    }

    /// Resolves sessions to the installations that their uploads registered.
    private func resolve(sessions ids: [UUID]) async throws -> [UUID: Resolution] {
        let addresses = try await PushInstallRepository(transaction).addresses(sessionIDs: ids)
        var resolutions: [UUID: Resolution] = [:]
        for id in ids {
            resolutions[id] =
                switch addresses[id] {
                case nil: .skipped(.sessionUnknown)
                case .some(nil): .skipped(.tokenMissing)
                case .some(let address?): address.isReachable(on: .urgent) ? .addresses([address]) : .skipped(.tokenDead)
                }
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
        let installs = try await PushInstallRepository(transaction).find(ids: ids)
        let byID = Dictionary(uniqueKeysWithValues: installs.map { ($0.id, [$0.address]) })
        return Dictionary(uniqueKeysWithValues: ids.map { ($0, .addresses(byID[$0] ?? [])) })
    }

    /// Finds the installations of short lists; long ones take turns with other fan-outs. A list is empty when no user of it has an account
    /// any more.
    private func resolve(lists ids: [UUID]) async throws -> [UUID: Resolution] {
        let installs = PushInstallRepository(transaction)
        var resolutions: [UUID: Resolution] = Dictionary(uniqueKeysWithValues: ids.map { ($0, .skipped(.noRecipient)) })
        var budget = Self.maxBatchMembers
        var short: [UUID] = []
        for (id, size) in try await installs.listSizes(ids: ids) {
            if size <= min(Self.maxTopicMembers, budget) {
                budget -= size
                short.append(id)
                resolutions[id] = .addresses([])
            } else {
                resolutions[id] = .longList
            }
        }
        for (id, addresses) in try await installs.addresses(listIDs: short) { resolutions[id] = .addresses(addresses) }
        return resolutions
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
}
