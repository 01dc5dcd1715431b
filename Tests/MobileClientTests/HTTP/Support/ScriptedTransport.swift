import Foundation

@testable import MobileClient

/// An ``HTTPTransport`` whose answers a test gives.
final class ScriptedTransport: HTTPTransport {
    typealias Handler = @Sendable (TransportRequest) async throws(TransportError) -> TransportResponse

    private let log = Locked<[TransportRequest]>([])
    private let handler: Handler

    init(_ handler: @escaping Handler) { self.handler = handler }

    /// Answers in this order, and fails the request after them.
    convenience init(_ answers: [Result<TransportResponse, TransportError>]) {
        let rest = Locked(answers[...])
        self.init { _ throws(TransportError) in
            guard let answer = rest.withLock({ $0.popFirst() }) else { throw TransportError(.other, "no answer is left") }
            return try answer.get()
        }
    }

    var sent: [TransportRequest] { log.withLock { $0 } }

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        log.withLock { $0.append(request) }
        return try await handler(request)
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        var response = try await send(request, maxBytes: maxBytes)
        guard response.status == 200 else { return response }
        do { try response.body.write(to: file) } catch { throw TransportError(.file, "\(error)") }
        response.body = Data()
        return response
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse {
        var response = try await send(request, maxBytes: .max)
        guard response.status == 200 else { return response }
        for line in String(decoding: response.body, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "CUT" { throw TransportError(.connectionLost, "cut") }
            guard await onLine(String(line)) else { break }
        }
        response.body = Data()
        return response
    }
}

/// Time that a sleep lets pass at once.
final class JumpingTime: Sendable {
    private let state = Locked((now: Date(timeIntervalSince1970: 1_800_000_000), sleeps: [Duration]()))

    var now: Date { state.withLock { $0.now } }
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    func pass(_ seconds: TimeInterval) { state.withLock { $0.now += seconds } }

    var source: TimeSource {
        TimeSource(
            now: { self.now },
            sleep: { duration in
                try Task.checkCancellation()
                self.state.withLock {
                    $0.sleeps.append(duration)
                    $0.now += duration / .seconds(1)
                }
            })
    }
}

extension TransportResponse {
    /// An error of the API (CONTRACT §5).
    static func failure(
        _ status: Int, _ code: String, field: String = "f", retryable: Bool = false, retryAfter: Int = 0,
        headers: TransportHeaders = [:]
    ) -> Self {
        let text = """
            {"success":false,"code":1,"message":"no","error":{"code":"\(code)","field":"\(field)","retryable":\(retryable),\
            "retry_after":\(retryAfter)},"data":null,"meta":{"requestId":"m","timestamp":"2025-10-27T10:00:00Z"}}
            """
        return Self(status: status, headers: headers, body: Data(text.utf8))
    }

    /// The answer to a refresh or a redeemed session.
    static func tokens(_ number: Int, expiresIn: Int = 3600) -> Self {
        json(
            """
            {"access_token":"A\(number)","refresh_token":"R\(number)","token_type":"Bearer","expires_in":\(expiresIn),"user_id":"U"}
            """)
    }
}

extension AccountTokens {
    static func pair(_ number: Int, expiresIn: Int = 3600, userID: String = "U") -> Self {
        Self(accessToken: "A\(number)", refreshToken: "R\(number)", expiresIn: expiresIn, userID: userID)
    }
}
