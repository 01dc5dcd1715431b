import Foundation

@testable import MobileClient

/// The network and the time of one process. After its end, no request and no wait of it comes to anything.
final class ClientProcess: HTTPTransport {
    private let api: PhoneAPI
    private let time: ManualTime
    private let isOffline: Locked<Bool>
    private let streams: Locked<[String]>
    private let contents = Locked((calls: 0, isOver: false))
    private let limit: Int
    private let isHandled: Bool

    /// - Parameters:
    ///   - limit: The request at which the process ends.
    ///   - isHandled: Whether the API gets that request.
    init(_ bench: ClientBench, endsAt limit: Int = .max, isHandled: Bool = false) {
        (api, time, isOffline, streams) = (bench.api, bench.time, bench.isOffline, bench.streams)
        (self.limit, self.isHandled) = (limit, isHandled)
    }

    var isOver: Bool { contents.withLock(\.isOver) }

    func end() { contents.withLock { $0.isOver = true } }

    var source: TimeSource {
        TimeSource(
            now: { [time] in time.now },
            sleep: { [self] duration in
                try await time.source.sleep(duration)
                if isOver { await Self.never() }
            })
    }

    static func never() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        let isLast = contents.withLock { state in
            state.calls += 1
            return state.calls >= limit
        }
        if isLast, !isHandled { end() }
        if isOver { await Self.never() }
        if isOffline.withLock({ $0 }) { throw TransportError(.notConnected, "There is no network") }
        let body: Data
        switch request.body {
        case .none: body = Data()
        case .data(let data): body = data
        case .file(let file): do { body = try Data(contentsOf: file) } catch { throw TransportError(.file, "The file is gone") }
        }
        let answer = api.answer(request, body, at: time.now)
        if isLast { end() }
        if isOver { await Self.never() }
        return answer
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        throw TransportError(.other, "This process downloads nothing")
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse {
        streams.withLock { $0.append(request.url.path) }
        throw TransportError(.other, "This API has no streams")
    }
}
