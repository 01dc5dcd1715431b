internal import FoundationEssentials
internal import HTTPClient
internal import Logging

/// A collector of traces, over HTTP.
struct Collector: Sendable {
    /// What became of an export.
    enum Answer {
        /// It was taken, all but so many spans.
        case taken(rejected: Int)
        /// It will never be taken.
        case refused(String)
        /// It may be taken later; the collector may say when.
        case unavailable(String, after: Duration?)
    }

    /// What a collector says when another try makes sense.
    private static let retryableStatuses: Set<Int> = [429, 502, 503, 504]
    /// The most bytes of an answer that are read.
    private static let answerByteCountMax = 64 * 1024
    /// The longest wait that a collector's `Retry-After` is read as.
    private static let retryAfterMax: Duration = .seconds(3600)

    private let http: HTTPClient
    private let request: HTTPClientRequest

    init(_ configuration: OTLPConfiguration, logger: Logger) {
        var settings = HTTPClientConfiguration()
        settings.allowedSchemes = ["http", "https"]
        settings.caFile = configuration.caFile
        settings.connectionsPerHostMax = 1
        settings.responseBodyByteCountMax = Self.answerByteCountMax
        settings.shutdownGrace = .zero
        http = HTTPClient(configuration: settings, logger: logger)
        request = HTTPClientRequest(
            method: "POST", url: configuration.endpoint,
            headers: [("Content-Type", "application/json")] + configuration.headers)
    }

    func close() async { await http.shutdown() }

    func export(_ body: [UInt8], timeout: Duration) async -> Answer {
        var request = request
        request.body = body
        request.timeout = timeout
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await http.execute(request)
        } catch {
            return error.code == .invalidRequest ? .refused("\(error)") : .unavailable("\(error)", after: nil)
        }
        switch response.status {
        case 200..<300: return .taken(rejected: Self.rejectedSpans(in: response.body))
        case let status where Self.retryableStatuses.contains(status):
            return .unavailable("status \(status)", after: response.retryAfter(now: Date(), max: Self.retryAfterMax))
        case let status: return .refused("status \(status)")
        }
    }

    /// How many spans the collector took the export without.
    private static func rejectedSpans(in body: [UInt8]) -> Int {
        guard !body.isEmpty, let answer = try? JSONDecoder().decode(ExportAnswer.self, from: Data(body)) else { return 0 }
        return answer.partialSuccess?.rejectedSpans?.value ?? 0
    }

    private struct ExportAnswer: Decodable {
        struct PartialSuccess: Decodable {
            let rejectedSpans: WideNumber?
        }
        let partialSuccess: PartialSuccess?
    }

    /// An integer of 64 bits: a string by the mapping, a number from some.
    private struct WideNumber: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try (try? container.decode(Int.self)) ?? Int(try container.decode(String.self)) ?? 0
        }
    }
}
