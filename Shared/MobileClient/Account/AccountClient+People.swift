public import Foundation

extension AccountClient {
    /// Another person whom this one blocks or allows.
    public struct ListedPerson: Sendable, Equatable, Decodable {
        /// The id of the account; there need not be one of this id.
        public let userID: UUID
        /// When they were put on the list.
        public let createdAt: Date

        enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case createdAt = "created_at"
        }
    }

    /// Fetches a page of the events and conversations of this person, of up to 200, the last joined first.
    public func topics(after cursor: String? = nil, limit: Int = 50) async throws(HeliographError) -> TopicList {
        try ArgumentLimits.listPage(limit)
        return try await api.send(TopicRequests.topics(after: cursor, limit: limit))
    }

    /// Fetches a page of the invitations that this person can accept, of up to 200, the newest first; without invitations from people whom
    /// this one blocks. `EventsClient.enter` and `ChatClient.enter` accept, and `leave` declines.
    public func invitations(after cursor: String? = nil, limit: Int = 50) async throws(HeliographError) -> InvitationList {
        try ArgumentLimits.listPage(limit)
        return try await api.send(TopicRequests.invitations(after: cursor, limit: limit))
    }

    /// Fetches the people whom this one blocks: their messages, photos and invitations cause no pushes here, and they can only invite this
    /// person, not add them.
    public func blocks() async throws(HeliographError) -> [ListedPerson] { try await api.send(PeopleRequests.people(on: .blocks)) }

    /// Blocks these people, and no others.
    ///
    /// - Parameter userIDs: Up to 1,000, each whether an account has it or not, and not one's own.
    public func replaceBlocks(with userIDs: [UUID]) async throws(HeliographError) -> [ListedPerson] {
        try await replace(.blocks, with: userIDs)
    }

    /// Blocks a person. They are not told.
    ///
    /// - Throws: `limit_reached` when 1,000 are blocked.
    public func block(_ userID: UUID) async throws(HeliographError) { try await api.send(PeopleRequests.add(userID, to: .blocks)) }

    /// Ends a block. Also succeeds without a block.
    public func unblock(_ userID: UUID) async throws(HeliographError) {
        try await api.send(PeopleRequests.remove(userID, from: .blocks))
    }

    /// Fetches the people who may add this one to their events and conversations without an invitation, unless this one blocks them.
    public func contacts() async throws(HeliographError) -> [ListedPerson] { try await api.send(PeopleRequests.people(on: .contacts)) }

    /// Allows these people, and no others, to add this one without an invitation.
    ///
    /// - Parameter userIDs: The ids; see ``replaceBlocks(with:)``.
    public func replaceContacts(with userIDs: [UUID]) async throws(HeliographError) -> [ListedPerson] {
        try await replace(.contacts, with: userIDs)
    }

    /// Allows a person to add this one to their events and conversations without an invitation.
    ///
    /// - Throws: `limit_reached` with 1,000 contacts.
    public func addContact(_ userID: UUID) async throws(HeliographError) {
        try await api.send(PeopleRequests.add(userID, to: .contacts))
    }

    /// Removes a contact; this person stays a member of events and conversations. Also succeeds when the person is not a contact.
    public func removeContact(_ userID: UUID) async throws(HeliographError) {
        try await api.send(PeopleRequests.remove(userID, from: .contacts))
    }

    private func replace(_ list: PeopleRequests.List, with userIDs: [UUID]) async throws(HeliographError) -> [ListedPerson] {
        try ArgumentLimits.people(userIDs)
        return try await api.send(PeopleRequests.replace(list, with: userIDs))
    }

    /// Reports a person to the operators. A second report changes nothing while the first is open.
    ///
    /// - Throws: `rate_limited` after 50 reports in a day.
    public func report(user userID: UUID, _ report: ContentReport) async throws(HeliographError) {
        try ArgumentLimits.report(report)
        try await api.send(PeopleRequests.reportUser(userID, report))
    }
}

/// A person's report to the operators about another person, a topic or a message.
public struct ContentReport: Sendable, Equatable {
    /// Why something is reported.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The reason as the API spells it, such as `self_harm`.
        public let rawValue: String

        /// Creates a reason from the text of the API, which refuses texts that it does not know.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Unwanted advertising, or unwanted messages.
        public static let spam = Self(rawValue: "spam")
        /// Insults, threats or unwanted attention to a person.
        public static let harassment = Self(rawValue: "harassment")
        /// An account that pretends to be another person.
        public static let impersonation = Self(rawValue: "impersonation")
        /// Violence, or calls for it.
        public static let violence = Self(rawValue: "violence")
        /// Sexual pictures or texts.
        public static let sexualContent = Self(rawValue: "sexual_content")
        /// Signs that a person may harm themselves.
        public static let selfHarm = Self(rawValue: "self_harm")
        /// Any other reason, which the text explains.
        public static let other = Self(rawValue: "other")
    }

    /// Why it is reported.
    public var reason: Reason
    /// The person's text, up to 1,000 characters.
    public var text: String?

    /// Creates a report; the API refuses a `text` of more than 1,000 characters.
    public init(_ reason: Reason, text: String? = nil) {
        self.reason = reason
        self.text = text
    }
}
