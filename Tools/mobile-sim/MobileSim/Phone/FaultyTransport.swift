internal import Foundation
internal import MobileClient

/// The network as one process of a phone sees it: it is lost at times, loses answers, is slow, and ends with the process.
struct FaultyTransport: HTTPTransport {
    /// Gets the faults of requests.
    struct Watch: Sendable {
        /// A fault was injected.
        var fault: @Sendable (FaultCount.Kind, TransportRequest) -> Void = { _, _ in }
        /// The app is about to get an answer.
        var answer: @Sendable (TransportRequest, TransportResponse) -> Void = { _, _ in }
        /// The app is about to be told that there is no network.
        var failure: @Sendable (TransportRequest, TransportError) -> Void = { _, _ in }
    }

    let base: any HTTPTransport
    let incarnation: Incarnation
    let network: PhoneNetwork
    var watch = Watch()

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        try await around(request) { () async throws(TransportError) in try await base.send(request, maxBytes: maxBytes) }
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        do throws(TransportError) {
            return try await around(request) { () async throws(TransportError) in
                try await base.download(request, to: file, maxBytes: maxBytes)
            }
        } catch {
            // There is no file after an error, as the protocol says; an answer may be lost after its file was written.
            try? FileManager.default.removeItem(at: file)
            throw error
        }
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse {
        let (incarnation, network) = (incarnation, network)
        return try await around(request) { () async throws(TransportError) in
            try await base.stream(request) { line in
                guard await incarnation.pass(.answer, "line"), network.isOnline else { return false }
                return await onLine(line)
            }
        }
    }

    private func around(
        _ request: TransportRequest, _ exchange: () async throws(TransportError) -> TransportResponse
    ) async throws(TransportError) -> TransportResponse {
        let name = "\(request.method) \(request.url.path)"
        guard await incarnation.pass(.request, name) else { throw Self.cancelled }
        guard network.isOnline else {
            watch.fault(.noNetwork, request)
            try await pause(network.timeToNotice())
            guard await incarnation.pass(.answer, name) else { throw Self.cancelled }
            throw report(TransportError(.notConnected, "The phone has no network"), request)
        }
        let fate = network.fate()
        let answer: TransportResponse
        do throws(TransportError) { answer = try await exchange() } catch {
            guard await incarnation.pass(.answer, name) else { throw Self.cancelled }
            throw report(error, request)
        }
        if case .slow(let seconds) = fate {
            watch.fault(.slowAnswer, request)
            // A response after the timeout does not count.
            try await pause(min(seconds, request.timeout / .seconds(1)))
            guard .seconds(seconds) < request.timeout else { throw report(TransportError(.timedOut, "The answer is late"), request) }
        }
        guard await incarnation.pass(.answer, name) else { throw Self.cancelled }
        guard fate != .answerLost, network.isOnline else {
            watch.fault(.answerLost, request)
            throw report(TransportError(.connectionLost, "The answer was lost"), request)
        }
        watch.answer(request, answer)
        return answer
    }

    private func report(_ error: TransportError, _ request: TransportRequest) -> TransportError {
        watch.failure(request, error)
        return error
    }

    private func pause(_ seconds: Double) async throws(TransportError) {
        do { try await Task.sleep(for: .seconds(seconds)) } catch { throw Self.cancelled }
        guard await incarnation.pass(.pause) else { throw Self.cancelled }
    }

    private static let cancelled = TransportError(.cancelled, "The task was cancelled")
}
