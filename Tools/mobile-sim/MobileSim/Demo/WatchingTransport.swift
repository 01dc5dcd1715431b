internal import Foundation
internal import MobileClient
internal import Synchronization

/// Keeps what went over the network of a phone, so that the demo can show and check it.
final class WatchingTransport: HTTPTransport {
    struct Exchange: Sendable {
        let request: TransportRequest
        let answer: TransportResponse
        let sentAt: Date
        let seconds: Double

        /// The answer's JSON object; empty for anything else.
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: answer.body)) as? [String: Any] ?? [:] }
        var data: [String: Any] { json["data"] as? [String: Any] ?? [:] }
    }

    private let base: any HTTPTransport
    private let detour: MediaDetour?
    private let api: URL
    private let kept = Mutex<[Exchange]>([])

    init(_ base: any HTTPTransport, api: URL, detour: MediaDetour?) {
        self.base = base
        self.api = api
        self.detour = detour
    }

    /// The exchanges with this method and a path with this end, the oldest first.
    func exchanges(_ method: String, _ end: String) -> [Exchange] {
        kept.withLock { $0.filter { $0.request.method == method && $0.request.url.path.hasSuffix(end) } }
    }

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        let sentAt = Date()
        let answer = try await base.send(led(request), maxBytes: maxBytes)
        kept.withLock {
            $0.append(Exchange(request: request, answer: answer, sentAt: sentAt, seconds: Date().timeIntervalSince(sentAt)))
        }
        return answer
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        try await base.download(led(request), to: file, maxBytes: maxBytes)
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse {
        try await base.stream(request, onLine: onLine)
    }

    private func led(_ request: TransportRequest) -> TransportRequest {
        guard let detour, request.url.host != api.host || request.url.port != api.port else { return request }
        return detour.led(request)
    }
}

/// Another way to the host of a link, as curl's `--connect-to HOST1:PORT1:HOST2:PORT2` takes it.
struct MediaDetour: Sendable, Equatable {
    /// The host and the port that are replaced; empty for all.
    let from: (host: String, port: String)
    let to: (host: String, port: Int)

    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, !parts[2].isEmpty, let port = Int(parts[3]) else { return nil }
        (from, to) = ((parts[0], parts[1]), (parts[2], port))
    }

    static func == (one: MediaDetour, other: MediaDetour) -> Bool { one.from == other.from && one.to == other.to }

    func led(_ request: TransportRequest) -> TransportRequest {
        guard let host = request.url.host, var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false) else {
            return request
        }
        let port = request.url.port.map(String.init) ?? (request.url.scheme == "https" ? "443" : "80")
        guard from.host.isEmpty || from.host == host, from.port.isEmpty || from.port == port else { return request }
        (parts.host, parts.port) = (to.host, to.port)
        guard let url = parts.url else { return request }
        var led = request
        led.url = url
        // The key that a link is signed for.
        led.headers["Host"] = request.url.port.map { "\(host):\($0)" } ?? host
        return led
    }
}
