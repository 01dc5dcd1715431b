internal import Foundation

/// The request that reports receipts of pushes on this phone (CONTRACT §3).
enum ReceiptRequests {
    /// How many receipts the API got and counted.
    struct Counts: Sendable, Equatable, Decodable {
        let received: Int
        /// Without receipts that it has counted before, and without receipts of unknown pushes.
        let counted: Int
    }

    /// Reports up to 100 receipts of pushes. The API counts each once a device, so the request may be repeated.
    static func record(_ receipts: [PushReceipt]) -> APIRequest<Counts> {
        let rows = receipts.map { receipt in
            [
                receipt.subject.rawValue: receipt.id, "event": receipt.event.rawValue,
                "at": WireDate.text(Date(timeIntervalSince1970: receipt.at)),
            ]
        }
        return APIRequest(
            method: "POST", path: "/v1/notifications/receipts", body: .json(WireJSON.data(rows)), maxAnswerBytes: 1 << 16
        ) { try WireJSON.content($0) }
    }
}
