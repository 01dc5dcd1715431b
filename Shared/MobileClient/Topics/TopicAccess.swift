internal import Foundation

/// What events and conversations have in common: members, reading and reports.
struct TopicAccess: Sendable {
    /// The kind of a topic, as its name begins.
    enum Kind: String, Sendable {
        case event
        case conversation
    }

    let api: any APISender
    let kind: Kind
    /// Takes the number for the app's icon, with the time of the answer that has it.
    var onBadge: @Sendable (_ count: Int, _ at: Date?) -> Void = { _, _ in }

    func name(_ id: String) throws(HeliographError) -> String { try ArgumentLimits.topic(kind, id) }

    func enter(_ id: String) async throws(HeliographError) { try await api.send(TopicRequests.enter(try name(id))) }

    func leave(_ id: String) async throws(HeliographError) { try await api.send(TopicRequests.leave(try name(id))) }

    func add(_ userID: UUID, to id: String) async throws(HeliographError) -> TopicMembers.Addition {
        try await api.send(TopicRequests.add(userID, to: try name(id)))
    }

    func remove(_ userID: UUID, from id: String) async throws(HeliographError) {
        try await api.send(TopicRequests.remove(userID, from: try name(id)))
    }

    func members(of id: String, after cursor: UUID?, limit: Int) async throws(HeliographError) -> TopicMembers {
        try ArgumentLimits.page(limit)
        return try await api.send(TopicRequests.members(of: try name(id), after: cursor, limit: limit))
    }

    func setMembersVisible(_ areVisible: Bool, in id: String) async throws(HeliographError) {
        try await api.send(TopicRequests.setMembersVisible(areVisible, in: try name(id)))
    }

    func read(_ id: String, upTo messageID: String?) async throws(HeliographError) -> TopicUnread {
        if let messageID { try ArgumentLimits.messageID(messageID) }
        var read = TopicRequests.read(try name(id), upTo: messageID)
        read.decode = { [decode = read.decode, onBadge] response in
            let unread = try decode(response)
            onBadge(unread.badge, WireJSON.time(of: response))
            return unread
        }
        return try await api.send(read)
    }

    func report(_ id: String, _ report: ContentReport) async throws(HeliographError) {
        try ArgumentLimits.report(report)
        try await api.send(PeopleRequests.reportTopic(try name(id), report))
    }
}
