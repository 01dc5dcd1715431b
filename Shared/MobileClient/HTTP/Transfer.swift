internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One request of a ``URLSessionTransport`` on its way: collects the answer, holds its limits, and ends exactly once.
///
/// The delegate of URLSession calls it on the session's queue, cancellation and the watchdog on any thread. It does not wait for URLSession
/// to confirm a cancellation: what arrives after the end is dropped.
final class Transfer: Sendable {
    typealias Outcome = Result<TransportResponse, TransportError>

    /// Where the body of an answer with status 200 goes. Any other body goes to the memory.
    enum Sink {
        case memory
        case file(URL)
        case pieces(AsyncStream<Data>.Continuation)
    }

    /// The bytes of an answer that no call has asked for: the explanation of an error.
    static let maxErrorBytes = 1 << 20
    /// The bytes of a stream that its reader has not taken yet.
    static let maxPendingBytes = 4 << 20

    private struct State {
        var response: TransportResponse?
        var received: Int64 = 0
        /// The length that the answer declares; nil without a declared length.
        var declared: Int64?
        var part: PartialFile?
        var pending = 0
        var lastActivity = ContinuousClock.now
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
    }

    private let sink: Sink
    private let maxBytes: Int
    private let hasBody: Bool
    private let state = Locked(State())

    /// - Parameter hasBody: Whether answers have a body: not those to HEAD, whatever length they declare.
    init(to sink: Sink, maxBytes: Int, hasBody: Bool = true) {
        self.sink = sink
        self.maxBytes = maxBytes
        self.hasBody = hasBody
    }

    /// The answer, or the error that prevented it. Call once.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiting = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// The time since the last byte in either direction; nil when the transfer has ended.
    var idleTime: Duration? { state.withLock { $0.outcome == nil ? .now - $0.lastActivity : nil } }

    /// The answer without its body; nil until it has come.
    var head: TransportResponse? { state.withLock { $0.response } }

    /// Notes that bytes of the request were sent.
    func touch() { state.withLock { $0.lastActivity = .now } }

    /// Takes the head of the answer; returns false when the transfer is over.
    func receive(_ response: HTTPURLResponse) -> Bool {
        let failure = state.withLock { state -> TransportError? in
            guard state.outcome == nil else { return nil }
            state.lastActivity = .now
            // Only an interim answer has another after it (RFC 9110 §15.2). Each part of a `multipart/x-mixed-replace`, which URLSession
            // reports as an answer too, would begin a file.
            if let former = state.response, former.status >= 200 { return TransportError(.tooLong, "There is more than one answer") }
            let head = TransportResponse(response)
            state.response = head
            state.declared = head.declaredLength
            if hasBody, let declared = state.declared, declared > Int64(limit(head.status)) { return Self.tooLong }
            guard head.status == 200, case .file(let file) = sink else { return nil }
            do throws(TransportError) { state.part = try PartialFile(of: file) } catch { return error }
            return nil
        }
        if let failure { finish(.failure(failure)) }
        return isOver == false
    }

    /// Takes a piece of the body; returns false when the transfer is over.
    func receive(_ piece: Data) -> Bool {
        let failure = state.withLock { state -> TransportError? in
            guard state.outcome == nil, let status = state.response?.status else { return nil }
            state.lastActivity = .now
            state.received += Int64(piece.count)
            if case .pieces(let pieces) = sink, status == 200 {
                state.pending += piece.count
                if state.pending > Self.maxPendingBytes { return TransportError(.tooLong, "The stream is faster than its reader") }
                pieces.yield(piece)
                return nil
            }
            if state.received > Int64(limit(status)) { return Self.tooLong }
            guard let part = state.part else {
                state.response?.body.append(piece)
                return nil
            }
            do throws(TransportError) { try part.write(piece) } catch { return error }
            return nil
        }
        if let failure { finish(.failure(failure)) }
        return isOver == false
    }

    /// Notes that the reader of a stream has taken bytes.
    func take(_ bytes: Int) { state.withLock { $0.pending -= bytes } }

    /// Ends the transfer as URLSession says.
    func complete(_ error: (any Error)?) {
        if let error {
            let failure = TransportError(error)
            // URLSession on Linux has no code for a connection that was cut within the answer.
            return finish(.failure(failure.code == .other && head != nil ? TransportError(.connectionLost, failure.message) : failure))
        }
        let (response, isCut) = state.withLock { state in
            // URLSession on Linux reports some connections that were cut as complete.
            (state.response, hasBody && (state.declared.map { state.received < $0 } ?? false))
        }
        guard let response else { return finish(.failure(TransportError(.connectionLost, "The connection ended without an answer"))) }
        finish(isCut ? .failure(TransportError(.connectionLost, "The connection ended within the answer")) : .success(response))
    }

    /// Ends the transfer; has no effect when it has ended before.
    func finish(_ outcome: Outcome) {
        let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            var outcome = outcome
            if let part = state.part {
                state.part = nil
                do throws(TransportError) { try part.end(keeping: outcome.isSuccess) } catch { outcome = .failure(error) }
            }
            state.outcome = outcome
            defer { state.waiting = nil }
            return state.waiting
        }
        if case .pieces(let pieces) = sink { pieces.finish() }
        if let waiting { state.withLock { $0.outcome }.map { waiting.resume(returning: $0) } }
    }

    private var isOver: Bool { state.withLock { $0.outcome != nil } }

    private func limit(_ status: Int) -> Int {
        switch sink {
        case .memory: maxBytes
        case .file: status == 200 ? maxBytes : min(maxBytes, Self.maxErrorBytes)
        case .pieces: status == 200 ? .max : Self.maxErrorBytes
        }
    }

    private static let tooLong = TransportError(.tooLong, "The answer is longer than is allowed")
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
