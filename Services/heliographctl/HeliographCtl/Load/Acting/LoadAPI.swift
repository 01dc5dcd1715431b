internal import Foundation
internal import HTTPClient

/// An installation as an app sees it, by its HTTP API.
struct LoadAPI: Sendable {
    /// How long one request waits for news; the API allows twice as much, but not every proxy before it.
    private static let waitSecondsMax = 30
    /// How much longer than it waits such a request may take.
    private static let waitMargin: Duration = .seconds(10)

    /// What the paths are appended to.
    let url: String
    let http: HTTPClient
    /// How long one request may take, and how long one thing may take to its end.
    let patience: Duration

    /// An answer that was a success.
    struct Reply {
        let body: LoadAnswer
        let sessionToken: String?
    }

    /// Sends a request, and reads its answer.
    ///
    /// - Throws: anything but a success, by its status and code.
    func send(
        _ method: String, _ path: String, bearer: String? = nil, form: LoadForm? = nil, json: [String: String]? = nil,
        key: UUID? = nil, trigger: String? = nil, timeout: Duration? = nil, for stage: LoadStage?
    ) async throws(LoadFailure) -> Reply {
        var request = HTTPClientRequest(method: method, url: url + path, timeout: timeout ?? patience)
        if let bearer { request.headers.append(("Authorization", "Bearer \(bearer)")) }
        if let key { request.headers.append(("X-Request-ID", key.uuidString.lowercased())) }
        if let trigger { request.headers.append(("X-Client-Trigger", trigger)) }
        if let form {
            request.headers.append(("Content-Type", form.contentType))
            request.body = form.encoded()
        } else if let json {
            request.headers.append(("Content-Type", "application/json"))
            request.body = [UInt8]((try? JSONEncoder().encode(json)) ?? Data())
        }
        let response: HTTPClientResponse
        do throws(HTTPClientError) {
            response = try await http.execute(request)
        } catch {
            throw LoadFailure(at: stage, Self.reason(error))
        }
        let body = LoadAnswer(parsing: response.body)
        guard (200..<300).contains(response.status) else {
            throw LoadFailure(
                response.status == 429 ? .refused : .failed, at: stage,
                "\(response.status) \(Self.code(body))",
                retryAfter: response.retryAfter(now: Date(), max: .seconds(3_600)))
        }
        return Reply(body: body, sessionToken: response.header("X-Session-Token"))
    }

    /// Asks for something again and again, each time waiting for news, until it has ended.
    ///
    /// - Parameter isOver: gives what is wanted of an answer; nil as long as it is not there.
    func wait<Value>(
        for path: String, bearer: String, stage: LoadStage, isOver: (LoadAnswer) -> Value?
    ) async throws(LoadFailure) -> Value {
        let deadline = ContinuousClock.now + patience
        while true {
            let left = Int((deadline - .now).seconds.rounded(.up))
            guard left > 0 else { throw LoadFailure(at: stage, "not within \(HumanUnits.age(patience))") }
            let seconds = min(left, Self.waitSecondsMax)
            let reply = try await send(
                "GET", "\(path)?wait=\(seconds)", bearer: bearer, trigger: "poll",
                timeout: .seconds(seconds) + Self.waitMargin, for: stage)
            if let value = isOver(reply.body) { return value }
        }
    }

    /// The code that the API gives; what an answer says that is not the API's is not repeated.
    private static func code(_ body: LoadAnswer) -> String {
        let code = body.error?.code ?? ""
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
