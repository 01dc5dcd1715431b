internal import Foundation

/// The requests about other people: blocks, contacts and reports.
enum PeopleRequests {
    /// A list of people that a person keeps, by its name in paths and answers.
    enum List: String, Sendable {
        case blocks
        case contacts
    }

    private struct UserIDs: Encodable {
        let userIDs: [String]

        enum CodingKeys: String, CodingKey { case userIDs = "user_ids" }
    }

    private struct Report: Encodable {
        let reason: String
        let text: String?
    }

    static func people(on list: List) -> APIRequest<[AccountClient.ListedPerson]> {
        APIRequest(method: "GET", path: path(list)) { try read(list, $0) }
    }

    static func replace(_ list: List, with userIDs: [UUID]) -> APIRequest<[AccountClient.ListedPerson]> {
        APIRequest(method: "PUT", path: path(list), body: .json(WireJSON.data(UserIDs(userIDs: userIDs.map(\.wireText))))) {
            try read(list, $0)
        }
    }

    static func add(_ userID: UUID, to list: List) -> APIRequest<Void> {
        APIRequest(method: "PUT", path: path(list, userID)) { _ in }
    }

    static func remove(_ userID: UUID, from list: List) -> APIRequest<Void> {
        APIRequest(method: "DELETE", path: path(list, userID)) { _ in }
    }

    static func reportUser(_ userID: UUID, _ report: ContentReport) -> APIRequest<Void> {
        self.report("/v1/users/\(userID.wireText)/report", report)
    }

    static func reportTopic(_ topic: String, _ report: ContentReport) -> APIRequest<Void> {
        self.report("/v1/topics/\(topic)/report", report)
    }

    static func reportMessage(_ messageID: String, in topic: String, _ report: ContentReport) -> APIRequest<Void> {
        self.report("/v1/topics/\(topic)/messages/\(messageID)/report", report)
    }

    /// A second report about the same subject changes nothing while the first is open: so a repetition needs no idempotency key.
    private static func report(_ path: String, _ report: ContentReport) -> APIRequest<Void> {
        APIRequest(
            method: "POST", path: path, body: .json(WireJSON.data(Report(reason: report.reason.rawValue, text: report.text))),
            idempotencyKey: UUID()
        ) { _ in }
    }

    private static func path(_ list: List, _ userID: UUID? = nil) -> String {
        "/v1/users/me/\(list.rawValue)" + (userID.map { "/\($0.wireText)" } ?? "")
    }

    /// Reads a list, which is the member of its name.
    private static func read(_ list: List, _ response: TransportResponse) throws -> [AccountClient.ListedPerson] {
        switch list {
        case .blocks: try (WireJSON.content(response) as Blocks).blocks
        case .contacts: try (WireJSON.content(response) as Contacts).contacts
        }
    }

    private struct Blocks: Decodable {
        let blocks: [AccountClient.ListedPerson]
    }

    private struct Contacts: Decodable {
        let contacts: [AccountClient.ListedPerson]
    }
}
