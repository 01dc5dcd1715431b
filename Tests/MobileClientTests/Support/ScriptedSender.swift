import Foundation
import Testing

@testable import MobileClient

/// An ``APISender`` whose answers a test gives. A request waits for its answer until the test's handler returns it.
actor ScriptedSender: APISender {
    /// A request as the test sees it.
    struct Sent: Sendable, Equatable {
        var method: String
        var path: String
        var query: [URLQueryItem]
        var idempotencyKey: UUID?
        var bearer: String
        var body: Data?
        var headers: TransportHeaders = [:]
    }

    typealias Handler = @Sendable (Sent) async throws(HeliographError) -> TransportResponse

    private(set) var sent: [Sent] = []
    private let handler: Handler

    init(_ handler: @escaping Handler) { self.handler = handler }

    func send<Answer>(_ request: APIRequest<Answer>) async throws(HeliographError) -> Answer {
        let response = try await answer(to: request)
        do { return try request.decode(response) } catch {
            throw HeliographError(.unexpectedAnswer, "\(error)")
        }
    }

    func download(_ request: APIRequest<Void>, to file: URL, maxBytes: Int) async throws(HeliographError) {
        let response = try await answer(to: request)
        do { try response.body.write(to: file) } catch { throw HeliographError(.storage, "\(error)") }
    }

    func events(
        _ request: APIRequest<Void>, onEvent: @escaping @Sendable (String, String) async -> Bool
    ) async throws(HeliographError) {
        let response = try await answer(to: request)
        for block in String(decoding: response.body, as: UTF8.self).components(separatedBy: "\n\n") {
            let lines = block.split(separator: "\n")
            guard let data = lines.first(where: { $0.hasPrefix("data: ") }) else { continue }
            let name = lines.first { $0.hasPrefix("event: ") }?.dropFirst(7) ?? "message"
            guard await onEvent(String(name), String(data.dropFirst(6))) else { return }
        }
    }

    private func answer<Answer>(to request: APIRequest<Answer>) async throws(HeliographError) -> TransportResponse {
        let body: Data? =
            switch request.body {
            case .none: nil
            case .json(let data): data
            case .multipart(let file, _): try? Data(contentsOf: file)
            }
        let entry = Sent(
            method: request.method, path: request.path, query: request.query, idempotencyKey: request.idempotencyKey,
            bearer: "\(request.bearer)", body: body, headers: request.headers)
        sent.append(entry)
        return try await handler(entry)
    }
}

extension TransportResponse {
    /// An answer with a JSON body.
    static func json(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: ["content-type": "application/json"], body: Data(text.utf8))
    }
}
