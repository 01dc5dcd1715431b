internal import FoundationEssentials
internal import Hummingbird
internal import JSON
internal import Metrics
internal import PostgresClient
internal import Push
internal import Storage
internal import WireFormat

/// Answers `POST /v1/notifications/receipts`: events of pushes on the sender's device.
///
/// A repeated receipt counts once. Receipts for pushes of other users are ignored, and the response is the
/// same as for pushes that do not exist, so that it discloses nothing about other users.
struct ReceiptController: Sendable {
    /// The maximum size of the JSON.
    static let maxBodyBytes = 64 * 1_024

    let postgres: PostgresClient
    let authenticator: any Authenticator
    /// Limits the requests of one account.
    let limiter: RateLimiter<UUID>

    func record(_ request: Request, _ context: APIRequestContext) async throws -> Response {
        let identity = try await authenticator.identify(request)
        try limiter.admit(identity.userID, context.limits, or: "Too many signals of this account")
        guard request.isJSON else { throw APIError(.unsupportedMediaType, "The body must be application/json") }
        let bytes = Array(try await request.collectBody(upTo: Self.maxBodyBytes, context).readableBytesView)
        let body = try ReceiptBody(parsing: bytes)
        let recorded = try await ReceiptRepository(postgres)
            .record(body.receipts, userID: identity.userID, installationKey: identity.installationKey)
        for receipt in recorded {
            Counter(
                label: "push_receipts_total",
                dimensions: [
                    ("event", receipt.event.rawValue), ("kind", receipt.kind.rawValue),
                    ("form", receipt.hasPicture ? "rich" : "plain"),
                ]
            ).increment()
        }
        return Answer.json(
            Answer.data(
                .members(("received", .integer(body.receipts.count)), ("counted", .integer(recorded.count))), context.requestID))
    }
}
