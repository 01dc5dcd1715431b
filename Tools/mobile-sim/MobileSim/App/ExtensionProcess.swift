internal import Foundation
internal import MobileClient
internal import Synchronization

/// The notification service extension of a phone, which gets each push that shows something before it is shown: another process than the
/// app, on the same folder.
struct ExtensionProcess: Sendable {
    /// The seconds within which the system demands the notification back.
    private static let limit = 30.0

    let phone: Phone
    let folder: URL

    /// Takes a push, and returns when its notification was handed back.
    ///
    /// - Parameter seconds: When the system loses its patience; nil for never.
    func receive(_ push: EmulatorControl.Push, expiringAfter seconds: Double?) async {
        // Pictures are loaded by https only, which the stack of one machine has not: to the extension its links are of that kind.
        let text = String(decoding: push.json, as: UTF8.self).replacingOccurrences(of: "http:\\/\\/", with: "https:\\/\\/")
            .replacingOccurrences(of: "http://", with: "https://")
        guard let payload = PushPayload(json: Data(text.utf8)) else { return }
        // Only the system's time limit ends this process early; the end of the app's process does not affect it.
        let process = Incarnation(number: 0, folder: folder)
        let network = FaultyTransport(
            base: phone.world.transport(of: phone.index), incarnation: process, network: phone.network)
        let service = PushExtension(folder: folder, transport: PlainTransport(base: network), time: phone.clock.time(of: process))
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let record = DeliveryRecord()
        service.receive(payload) { attachment in
            record.add(hasPicture: attachment != nil)
            // The system moves the file to where it keeps pictures.
            if let file = attachment?.file { try? FileManager.default.removeItem(at: file) }
            end.yield()
            return attachment != nil
        }
        if let seconds {
            try? await Task.sleep(for: .seconds(seconds))
            service.expire()
        }
        let timer = Task {
            try? await Task.sleep(for: .seconds(Self.limit))
            end.yield()
        }
        for await _ in ends { break }
        timer.cancel()
        // A second time would come at once.
        await Task.yield()
        check(record)
    }

    private func check(_ record: DeliveryRecord) {
        let (count, hasPicture) = record.seen
        phone.world.measurements.push(hasPicture ? "with a picture, by the extension" : "as text alone, by the extension")
        if count != 1 { phone.violate(.handedBack, "A notification was handed back \(count) times") }
    }
}

/// How often a notification was handed back, and whether with a picture.
final class DeliveryRecord: Sendable {
    private let state = Mutex((count: 0, hasPicture: false))

    var seen: (count: Int, hasPicture: Bool) { state.withLock { $0 } }

    func add(hasPicture: Bool) {
        state.withLock { state in
            state.count += 1
            state.hasPicture = state.hasPicture || hasPicture
        }
    }
}

/// Leads requests by https to http, as the proxy before an API does.
struct PlainTransport: HTTPTransport {
    let base: any HTTPTransport

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        try await base.send(plain(request), maxBytes: maxBytes)
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        try await base.download(plain(request), to: file, maxBytes: maxBytes)
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse { try await base.stream(plain(request), onLine: onLine) }

    private func plain(_ request: TransportRequest) -> TransportRequest {
        guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false), parts.scheme == "https" else { return request }
        parts.scheme = "http"
        var plain = request
        if let url = parts.url { plain.url = url }
        return plain
    }
}
