internal import Foundation

/// The requests about other people: blocks and reports.
enum PeopleRequests {
    private struct UserIDs: Encodable {
        let userIDs: [String]

        enum CodingKeys: String, CodingKey { case userIDs = "user_ids" }
    }

    private struct Blocks: Decodable {
        let blocks: [AccountClient.Block]
    }

    private struct Report: Encodable {
        let reason: String
        let text: String?
    }

    static func blocks() -> APIRequest<[AccountClient.Block]> {
        APIRequest(method: "GET", path: "/v1/users/me/blocks", decode: readBlocks)
    }

    static func replaceBlocks(with userIDs: [UUID]) -> APIRequest<[AccountClient.Block]> {
        APIRequest(
            method: "PUT", path: "/v1/users/me/blocks", body: .json(WireJSON.data(UserIDs(userIDs: userIDs.map(\.wireText)))),
            decode: readBlocks)
    }

    static func block(_ userID: UUID) -> APIRequest<Void> {
        APIRequest(method: "PUT", path: "/v1/users/me/blocks/\(userID.wireText)") { _ in }
    }

    static func unblock(_ userID: UUID) -> APIRequest<Void> {
        APIRequest(method: "DELETE", path: "/v1/users/me/blocks/\(userID.wireText)") { _ in }
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

    /// A second report about the same subject changes nothing while the first is open: a repetition needs no key of the API's.
    private static func report(_ path: String, _ report: ContentReport) -> APIRequest<Void> {
        APIRequest(
            method: "POST", path: path, body: .json(WireJSON.data(Report(reason: report.reason.rawValue, text: report.text))),
            idempotencyKey: UUID()
        ) { _ in }
    }

    @Sendable private static func readBlocks(_ response: TransportResponse) throws -> [AccountClient.Block] {
        let answer: Blocks = try WireJSON.content(response)
        return answer.blocks
    }
}
