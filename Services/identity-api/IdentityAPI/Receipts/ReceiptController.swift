internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import Metrics
internal import PostgresClient
internal import Push
internal import WireFormat

/// Answers `POST /v1/notifications/receipts`: events of pushes on the sender's device.
///
/// A repeated receipt counts once. Receipts for pushes of other users are ignored, and the response is the
/// same as for pushes that do not exist, so that it discloses nothing about other users.
struct ReceiptController: Sendable {
    let postgres: PostgresClient

    func record(_ call: APICall<Identity, Void, ReceiptBody>) async throws -> RecordedReceipts {
        let receipts = call.body.receipts
        let recorded = try await ReceiptRepository(postgres)
            .record(receipts, userID: call.sender.userID, installationKey: call.sender.installationKey)
        for receipt in recorded {
            Counter(
                label: "push_receipts_total",
                dimensions: [
                    ("event", receipt.event.rawValue), ("kind", receipt.kind.rawValue),
                    ("form", receipt.hasPicture ? "rich" : "plain"),
                ]
            ).increment()
        }
        return RecordedReceipts(received: receipts.count, counted: recorded.count)
    }
}

/// How many receipts of a request were new.
struct RecordedReceipts: APIObject {
    static let members: [APIMember<RecordedReceipts>] = [.required("received", \.received), .required("counted", \.counted)]

    let received: Int
    let counted: Int
}

extension APIOperation {
    static let recordReceipts = APIOperation(
        .post, "/v1/notifications/receipts", id: "recordReceipts", area: .people,
        summary: "What happened to pushes on the phone; each is named by one of the ids", from: .user(.signals),
        reply: .data("How many were counted"), repetition: "each counts once", handler: { $0.people.receipts.record })
}
