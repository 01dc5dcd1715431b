internal import Accounts
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import WireFormat

extension APIOperation {
    static let reportUser = report(
        APITarget("/v1/users/{user}/report", APIArgument<UUID>.user.map { .user($0) }), id: "reportUser", area: .people,
        summary: "Reports a user to the operators")
    static let reportTopic = report(
        APITarget("/v1/topics/{topic}/report", APIArgument<TopicName>.topic.map { .topic($0) }), id: "reportTopic", area: .topics,
        summary: "Reports a topic to the operators")
    static let reportMessage = report(
        APITarget("/v1/topics/{topic}/messages/{message}/report", .reportedMessage), id: "reportMessage", area: .topics,
        summary: "Reports a message to the operators")

    private static func report(_ target: APITarget<AbuseReport.Subject>, id: String, area: APIArea, summary: String) -> APIOperation {
        APIOperation(
            .post, target, id: id, area: area, summary: summary, from: .user(.signals),
            reply: .data("The report is received", status: .accepted), repetition: "one report while it is open",
            handler: { $0.people.reports.report })
    }
}

extension APIArgument<AbuseReport.Subject> {
    /// A message of a conversation.
    fileprivate static let reportedMessage = APIArgument(.topic, .message) { _, context throws(APIError) in
        let name = try context.topicName()
        guard name.kind == .conversation else { throw APIError(.invalidRequest, "Messages are in conversations", field: "topic") }
        return .message(try ChatMessage.checkedID(context.parameters.get("message") ?? ""), in: name)
    }
}
