internal import Accounts
internal import FoundationEssentials
internal import HeliographCrypto
internal import JSON
internal import Metrics
internal import PostgresClient
internal import WireFormat

/// Answers `POST /v1/users/{id}/report`, `POST /v1/topics/{topic}/report` and `POST /v1/topics/{topic}/messages/{message_id}/report`.
///
/// The response is the same for any subject, known or not: a caller cannot learn from it whether the subject exists. Operators read reports
/// with `heliographctl reports`.
struct ReportController: Sendable {
    let postgres: PostgresClient
    let keys: AccountKeys

    /// Stores a report; in a day, ``AbuseReportRepository/maxPerDay`` of one account.
    func report(_ call: APICall<Identity, AbuseReport.Subject, ReportBody>) async throws -> ReceivedReport {
        let (body, id) = (call.body, UUID())
        let report = NewAbuseReport(
            id: id, reporterID: call.sender.userID, subject: call.target, reason: body.reason,
            textSealed: body.text.isEmpty ? nil : try keys.sealed(body.text, context: SealingContext.report(id: id)))
        let wait = try await postgres.withTransaction { try await AbuseReportRepository($0).insert(report) }
        if let wait { throw APIError.rateLimited("Too many reports by this account in a day", wait: wait) }
        Counter(label: "reports_total", dimensions: [("reason", body.reason.rawValue)]).increment()
        return ReceivedReport()
    }
}

/// The body of a report.
struct ReportBody: JSONObjectBody {
    /// The maximum number of characters of the text.
    static let maxTextCharacters = 1_000
    /// The maximum size of the text, because a character may have any number of bytes.
    private static let maxTextBytes = 8_000
    /// A text whose every byte is escaped, and the reason.
    static let maxBytes = 6 * maxTextBytes + 1_024
    static let fields = BodyFields<ReportBody>(.reason, .optionalText("text", .text(0...maxTextCharacters))) {
        reason, text throws(APIError) in ReportBody(reason: reason, text: try checked(text ?? ""))
    }

    let reason: AbuseReport.Reason
    let text: String

    private static func checked(_ text: String) throws(APIError) -> String {
        // Line ends and tabs as editors and keyboards make them.
        let text = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n").replacing("\t", with: " ")
        guard text.count <= maxTextCharacters, text.utf8.count <= maxTextBytes else {
            throw APIError(.invalidRequest, "A text has up to \(maxTextCharacters) characters", field: "text")
        }
        // Operators read it in a terminal, which obeys control characters.
        guard text.unicodeScalars.allSatisfy({ $0 == "\n" || $0.properties.generalCategory != .control }) else {
            throw APIError(.invalidRequest, "A text has no control characters but line ends and tabs", field: "text")
        }
        return text
    }
}

extension BodyFields<AbuseReport.Reason> {
    fileprivate static let reason = BodyFields("reason", .one(of: AbuseReport.Reason.self)) { body, name throws(APIError) in
        guard let reason = AbuseReport.Reason(rawValue: try body.requiredWord(name)) else {
            let reasons = AbuseReport.Reason.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIError(.invalidRequest, "A reason is one of \(reasons)", field: name)
        }
        return reason
    }
}

/// The reply to a report, the same for every subject.
struct ReceivedReport: APIObject {
    static let members: [APIMember<ReceivedReport>] = [.constant("status", "received")]
}
