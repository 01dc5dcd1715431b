internal import FoundationEssentials
internal import HTTPTypes
internal import HeliographCrypto
internal import Hummingbird
internal import JSON
internal import Metrics
internal import PostgresClient
internal import Storage
internal import WireFormat

/// Answers `POST /v1/users/{id}/report`, `POST /v1/topics/{topic}/report` and `POST /v1/topics/{topic}/messages/{message_id}/report`.
///
/// The response is the same for any subject, known or not: a caller cannot learn from it whether the subject exists. Operators read reports
/// with `heliographctl reports`.
struct ReportController: Sendable {
    /// The maximum number of characters of the text.
    static let maxTextCharacters = 1_000
    /// The maximum size of the text, because a character may have any number of bytes.
    private static let maxTextBytes = 8_000
    /// The maximum size of the JSON: a text whose every byte is escaped, and the reason.
    static let maxBodyBytes = 6 * maxTextBytes + 1_024

    let postgres: PostgresClient
    let keys: AccountKeys
    let authenticator: any Authenticator
    /// Limits the requests of one account; in a day, ``AbuseReportRepository/maxPerDay`` are stored.
    let limiter: RateLimiter<UUID>

    func user(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try await report(request, context) { context throws(APIError) in .user(try context.member()) }
    }

    func topic(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try await report(request, context) { context throws(APIError) in .topic(try context.topicName()) }
    }

    func message(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        try await report(request, context) { context throws(APIError) in
            let name = try context.topicName()
            guard name.kind == .conversation else {
                throw APIError(.invalidRequest, "Messages are in conversations", field: "topic")
            }
            return .message(try ChatMessage.checkedID(context.parameters.get("message") ?? ""), in: name)
        }
    }

    private func report(
        _ request: Request, _ context: APIRequestContext,
        subject: (APIRequestContext) throws(APIError) -> AbuseReport.Subject
    ) async throws -> Response {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many signals of this account")
        let subject = try subject(context)
        let body = try await JSONBody(of: request, upTo: Self.maxBodyBytes, context)
        guard let reason = AbuseReport.Reason(rawValue: try body.requiredWord("reason")) else {
            let reasons = AbuseReport.Reason.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIError(.invalidRequest, "A reason is one of \(reasons)", field: "reason")
        }
        // Line ends and tabs as editors and keyboards make them.
        let text = (try body.text("text") ?? "").replacing("\r\n", with: "\n").replacing("\r", with: "\n").replacing("\t", with: " ")
        guard text.count <= Self.maxTextCharacters, text.utf8.count <= Self.maxTextBytes else {
            throw APIError(.invalidRequest, "A text has up to \(Self.maxTextCharacters) characters", field: "text")
        }
        // Operators read it in a terminal, which obeys control characters.
        guard text.unicodeScalars.allSatisfy({ $0 == "\n" || $0.properties.generalCategory != .control }) else {
            throw APIError(.invalidRequest, "A text has no control characters but line ends and tabs", field: "text")
        }
        let id = UUID()
        let report = NewAbuseReport(
            id: id, reporterID: identity.userID, subject: subject, reason: reason,
            textSealed: text.isEmpty ? nil : try keys.sealed(text, context: SealingContext.report(id: id)))
        let wait = try await postgres.withTransaction { try await AbuseReportRepository($0).insert(report) }
        if let wait { throw APIError.rateLimited("Too many reports by this account in a day", wait: wait) }
        Counter(label: "reports_total", dimensions: [("reason", reason.rawValue)]).increment()
        return Answer.json(Answer.data(.members(("status", "received")), context.requestID), status: .accepted)
    }
}
