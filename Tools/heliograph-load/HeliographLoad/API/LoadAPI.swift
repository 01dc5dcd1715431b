internal import CommandLineSupport
internal import Foundation
internal import HTTPClient
internal import JSON
internal import Multipart
internal import WireFormat

/// A client of identity-api's HTTP API, as an app uses it.
struct LoadAPI: Sendable {
    /// Duration of one long poll; the API allows twice as much, but not every proxy before it.
    private static let maxWaitSeconds = 30
    /// Added to the duration of a long poll for the timeout of its request.
    private static let waitMargin: Duration = .seconds(10)

    /// The base URL that paths are appended to.
    let url: String
    let http: HTTPClient
    /// Timeout of one request, and of one action as a whole.
    let patience: Duration
    let retries: LoadRetries

    /// A successful response.
    struct Reply {
        let body: JSONValue
        let sessionToken: String?
    }

    /// Sends a request and decodes its response; sends it again without a response, if the load has such retries.
    ///
    /// - Throws: `LoadFailure` with the status and code of an unsuccessful response, or the network fault.
    func send(
        _ method: String, _ path: String, bearer: String? = nil, form: MultipartForm? = nil, json: [String: String]? = nil,
        key: UUID? = nil, trigger: String? = nil, timeout: Duration? = nil, for stage: LoadStage?
    ) async throws(LoadFailure) -> Reply {
        var request = HTTPClientRequest(method: method, url: url + path, timeout: timeout ?? patience)
        if let bearer { request.headers.append(("Authorization", "Bearer \(bearer)")) }
        if let key { request.headers.append(("X-Request-ID", key.wireString)) }
        if let trigger { request.headers.append(("X-Client-Trigger", trigger)) }
        if let form {
            request.headers.append(("Content-Type", form.contentType))
            request.body = form.encoded()
        } else if let json {
            request.headers.append(("Content-Type", "application/json"))
            request.body = [UInt8]((try? JSONEncoder().encode(json)) ?? Data())
        }
        let start = ContinuousClock.now
        var isRepetition = false
        while true {
            do throws(LoadFailure) { return try await attempt(request, for: stage) } catch {
                guard retries.admits(error, since: start, isRepetition: isRepetition) else { throw error }
            }
            isRepetition = true
            try? await Task.sleep(for: LoadRetries.pause)
        }
    }

    private func attempt(_ request: HTTPClientRequest, for stage: LoadStage?) async throws(LoadFailure) -> Reply {
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await http.execute(request)
        } catch {
            throw LoadFailure(at: stage, Self.reason(error))
        }
        let body: JSONValue = (try? JSONValue(parsing: response.body)) ?? .null
        guard (200..<300).contains(response.status) else {
            throw LoadFailure(
                response.status == 429 ? .refused : .failed, at: stage,
                "\(response.status) \(Self.code(body))",
                retryAfter: response.retryAfter(now: Date(), max: .seconds(3_600)))
        }
        return Reply(body: body, sessionToken: response.header("X-Session-Token"))
    }

    /// Repeats a long poll until a result is there.
    ///
    /// - Parameter result: extracts the result from the data of a response; nil to go on polling.
    func wait<Value>(
        for path: String, bearer: String, stage: LoadStage, result: (_ data: JSONValue) -> Value?
    ) async throws(LoadFailure) -> Value {
        let deadline = ContinuousClock.now + patience
        while true {
            let left = Int((deadline - .now).seconds.rounded(.up))
            guard left > 0 else { throw LoadFailure(at: stage, "not within \(HumanUnits.age(patience))") }
            let seconds = min(left, Self.maxWaitSeconds)
            let reply = try await send(
                "GET", "\(path)?wait=\(seconds)", bearer: bearer, trigger: "poll",
                timeout: .seconds(seconds) + Self.waitMargin, for: stage)
            if let value = result(reply.body["data"] ?? .null) { return value }
        }
    }

    /// The API's error code; any other text is left out, because it may come from a proxy.
    private static func code(_ body: JSONValue) -> String {
        let code = body["error"]?["code"]?.string ?? ""
        return !code.isEmpty && code.utf8.count <= 40 && code.allSatisfy { $0.isLowercase || $0 == "_" } ? code : "(no code)"
    }

    private static func reason(_ error: HTTPClientError) -> String {
        switch error.code {
        case .timeout: "timeout"
        case .notSent: "no connection"
        case .ambiguous: "connection lost"
        default: error.code.rawValue
        }
    }
}
