public import FoundationEssentials
public import HTTPClient
public import Logging
public import NIOPosix

/// Has one of Google's Gemini image models make pictures, by the REST method `generateContent`.
///
/// A call is made once and never repeated in here. Encoding the request and reading the answer, which are megabytes,
/// happen on a thread pool.
public struct GeminiGenerator: ImageGenerator {
    /// How often a call is let through while the day's quota is used up, to learn that it is back; refused calls are free.
    static let probeInterval = Duration.seconds(15 * 60)
    /// The most characters of the model's own name that are kept.
    private static let modelLengthMax = 64

    /// The configured model.
    public let name: String
    private let url: String
    private let configuration: GeminiConfiguration
    private let http: HTTPClient
    private let logger: Logger
    private let threadPool: NIOThreadPool
    private let breaker: QuotaBreaker
    private let now: @Sendable () -> Date

    /// Makes a generator.
    ///
    /// - Parameters:
    ///   - http: a client made with ``GeminiConfiguration/httpClient``.
    ///   - threadPool: encodes and decodes; must be running.
    ///   - now: the clock of the daily quota.
    /// - Throws: `invalidRequest` when the model's name or the base URL cannot be used, `unauthorised` when the key
    ///   cannot be one.
    public init(
        configuration: GeminiConfiguration, http: HTTPClient, logger: Logger,
        threadPool: NIOThreadPool = PictureThreads.sharedPool, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(GenerationError) {
        guard Self.isModelName(configuration.model) else {
            throw GenerationError(.invalidRequest, "the name of the model has something else than letters, digits, dots and dashes")
        }
        if let fault = HTTPEndpoint.fault(in: configuration.baseURL) {
            throw GenerationError(.invalidRequest, "the base URL of Gemini \(fault)")
        }
        guard !configuration.apiKey.isEmpty, configuration.apiKey.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw GenerationError(.unauthorised, "the API key has something else than visible ASCII")
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
            throw GenerationError(.quotaExhausted(until: until), "the quota of the day is used up; no call was made", isFree: true)
        }
        let (pictureSizeMax, start) = (configuration.imageSizeMax, ContinuousClock.now)
        let body = try await compute { () throws(GenerationError) in
            try GeminiRequestBody.make(request, imageSizeMax: pictureSizeMax)
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
                logger.warning("the day's quota of the image model is used up", metadata: ["model": "\(name)", "until": "\(until)"])
            }
            throw error
        }
    }

    private func post(_ body: [UInt8], deadline: ContinuousClock.Instant) async throws(GenerationError) -> HTTPClientResponse {
        let left = deadline - .now
        guard left > .zero else { throw GenerationError(.timeout, "the deadline was over before the call was made") }
        do throws(HTTPClientError) {
            return try await http.execute(
                HTTPClientRequest(
                    method: "POST", url: url,
                    headers: [("x-goog-api-key", configuration.apiKey), ("Content-Type", "application/json")],
                    body: body, timeout: min(left, configuration.timeout)))
        } catch {
            throw GeminiClassifier.meaning(of: error, isDeadline: left <= configuration.timeout)
        }
    }

    /// Computes off the threads of Swift's concurrency.
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
        1...modelLengthMax ~= text.utf8.count && text.first != "." && clean(text) != nil
    }

    /// The name as it is stored; nil when it is no name.
    private static func clean(_ name: String?) -> String? {
        guard let name, 1...modelLengthMax ~= name.utf8.count else { return nil }
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
