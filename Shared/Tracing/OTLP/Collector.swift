internal import FoundationEssentials
internal import HTTPClient
internal import Logging

/// Exports traces to a collector over HTTP.
struct Collector: Sendable {
    /// The outcome of an export.
    enum ExportOutcome {
        /// The collector accepted the export except for a number of rejected spans.
        case accepted(rejected: Int)
        /// The collector refused the export for good.
        case refused(String)
        /// The export may succeed later; `after` is the collector's Retry-After.
        case unavailable(String, after: Duration?)
    }

    /// The statuses after which the export is attempted again.
    private static let retryableStatuses: Set<Int> = [429, 502, 503, 504]
    /// The maximum number of bytes read of a response.
    private static let maxResponseByteCount = 64 * 1024
    /// The longest `Retry-After` that is obeyed.
    private static let maxRetryAfter: Duration = .seconds(3600)

    private let http: HTTPClient
    private let request: HTTPClientRequest

    init(_ configuration: OTLPConfiguration, logger: Logger) {
        var settings = HTTPClientConfiguration()
        settings.allowedSchemes = ["http", "https"]
        settings.caFile = configuration.caFile
        settings.maxConnectionsPerHost = 1
        settings.maxResponseBodyByteCount = Self.maxResponseByteCount
        settings.shutdownGrace = .zero
        http = HTTPClient(configuration: settings, logger: logger)
        request = HTTPClientRequest(
            method: "POST", url: configuration.endpoint,
            headers: [("Content-Type", "application/json")] + configuration.headers)
    }

    func close() async { await http.shutdown() }

    func export(_ body: [UInt8], timeout: Duration) async -> ExportOutcome {
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
        case 200..<300: return .accepted(rejected: Self.rejectedSpans(in: response.body))
        case let status where Self.retryableStatuses.contains(status):
            return .unavailable("status \(status)", after: response.retryAfter(now: Date(), max: Self.maxRetryAfter))
        case let status: return .refused("status \(status)")
        }
    }

    /// The number of spans that the collector rejected of an accepted export.
    private static func rejectedSpans(in body: [UInt8]) -> Int {
        guard !body.isEmpty, let response = try? JSONDecoder().decode(ExportResponse.self, from: Data(body)) else { return 0 }
        return response.partialSuccess?.rejectedSpans?.value ?? 0
    }

    private struct ExportResponse: Decodable {
        struct PartialSuccess: Decodable {
            let rejectedSpans: WideNumber?
        }
        let partialSuccess: PartialSuccess?
    }

    /// An integer of 64 bits: a string in the JSON mapping of protocol buffers, but a number from some collectors.
    private struct WideNumber: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try (try? container.decode(Int.self)) ?? Int(try container.decode(String.self)) ?? 0
        }
    }
}
