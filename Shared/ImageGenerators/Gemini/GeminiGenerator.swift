public import FoundationEssentials
public import HTTPClient
public import Logging
public import NIOPosix

/// Makes pictures with one of Google's Gemini image models, by the REST method `generateContent`.
///
/// Each request is one call without retries. Requests and answers are megabytes, so they are encoded and decoded on a thread
/// pool.
public struct GeminiGenerator: ImageGenerator {
    /// Interval of the probes while the daily quota is exhausted, which detect its reset; refused calls are free.
    static let probeInterval = Duration.seconds(15 * 60)
    /// Maximum length of a model name in bytes.
    private static let maxModelLength = 64

    /// The configured model.
    public let name: String
    /// Always true.
    public let isPaid = true
    private let url: String
    private let configuration: GeminiConfiguration
    private let http: HTTPClient
    private let logger: Logger
    private let threadPool: NIOThreadPool
    private let breaker: QuotaBreaker
    private let now: @Sendable () -> Date

    /// Creates a generator.
    ///
    /// - Parameters:
    ///   - http: A client created with ``GeminiConfiguration/httpClient``.
    ///   - threadPool: The running pool on which requests are encoded and answers decoded.
    ///   - now: The clock of the daily quota.
    /// - Throws: `invalidRequest` when the model's name or the base URL is invalid, `unauthorised` when the key is
    ///   malformed.
    public init(
        configuration: GeminiConfiguration, http: HTTPClient, logger: Logger,
        threadPool: NIOThreadPool = PictureThreads.sharedPool, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(GenerationError) {
        guard Self.isModelName(configuration.model) else {
            throw GenerationError(.invalidRequest, "the model name may contain only letters, digits, dots, dashes and underscores")
        }
        if let fault = HTTPEndpoint.fault(in: configuration.baseURL) {
            throw GenerationError(.invalidRequest, "the base URL of Gemini \(fault)")
        }
        guard !configuration.apiKey.isEmpty, configuration.apiKey.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw GenerationError(.unauthorised, "the API key is empty or contains other characters than visible ASCII")
        }
        name = configuration.model
        let base = configuration.baseURL.hasSuffix("/") ? String(configuration.baseURL.dropLast()) : configuration.baseURL
        url = "\(base)/v1beta/models/\(configuration.model):generateContent"
        self.configuration = configuration
        self.http = http
        self.logger = logger
        self.threadPool = threadPool
        self.now = now
        breaker = QuotaBreaker(probeInterval: Self.probeInterval)
    }

    /// See ``ImageGenerator/generate(_:)``.
    public func generate(_ request: GenerationRequest) async throws(GenerationError) -> GeneratedImage {
        if let until = breaker.refusal(now: now()) {
            throw GenerationError(.quotaExhausted(until: until), "the daily quota is exhausted; no call was made", isFree: true)
        }
        let (maxImageSize, start) = (configuration.maxImageSize, ContinuousClock.now)
        let body = try await compute { () throws(GenerationError) in
            try GeminiRequestBody.make(request, maxImageSize: maxImageSize)
        }
        request.progress(10)
        let response = try await post(body, deadline: request.deadline)
        request.progress(90)
        let now = now()
        do throws(GenerationError) {
            let answer = try await compute { () throws(GenerationError) in
                try GeminiClassifier.picture(in: response, now: now)
            }
            breaker.close()
            return GeneratedImage(
                bytes: answer.bytes, modelUsed: Self.clean(answer.modelVersion) ?? name, duration: .now - start)
        } catch {
            if case .quotaExhausted(let until) = error.code {
                breaker.open(until: until, now: now)
                logger.warning("daily quota of the image model exhausted", metadata: ["model": "\(name)", "until": "\(until)"])
            }
            throw error
        }
    }

    private func post(_ body: [UInt8], deadline: ContinuousClock.Instant) async throws(GenerationError) -> HTTPClientResponse {
        let left = deadline - .now
        guard left > .zero else { throw GenerationError(.timeout, "the deadline passed before the call was made") }
        do throws(HTTPClientError) {
            return try await http.execute(
                HTTPClientRequest(
                    method: "POST", url: url,
                    headers: [("x-goog-api-key", configuration.apiKey), ("Content-Type", "application/json")],
                    body: body, timeout: min(left, configuration.timeout)))
        } catch {
            throw GeminiClassifier.generationError(for: error, isDeadline: left <= configuration.timeout)
        }
    }

    /// Runs work on the thread pool instead of the cooperative threads.
    private func compute<Value: Sendable>(
        _ work: @escaping @Sendable () throws(GenerationError) -> Value
    ) async throws(GenerationError) -> Value {
        do {
            return try await threadPool.runIfActive(work)
        } catch let error as GenerationError {
            throw error
        } catch is CancellationError {
            throw GenerationError(.cancelled, "the task was cancelled")
        } catch {
            throw GenerationError(.unavailable(retryAfter: nil), "the thread pool is shut down", underlying: error)
        }
    }

    private static func isModelName(_ text: String) -> Bool {
        1...maxModelLength ~= text.utf8.count && text.first != "." && clean(text) != nil
    }

    /// Returns a model name that is safe to store; nil when it is malformed.
    private static func clean(_ name: String?) -> String? {
        guard let name, 1...maxModelLength ~= name.utf8.count else { return nil }
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isName ? name : nil
    }
}
