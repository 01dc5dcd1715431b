internal import CLibCurl
internal import Logging

/// The calls of ``HTTPClient``; libcurl makes and keeps the connections.
typealias CurlMailbox = ClientMailbox<HTTPClientRequest, Never>

/// Drives libcurl's multi handle until the mailbox is closed and all calls have ended.
///
/// Confined to its thread. Every call taken from the mailbox is ended exactly once, by ``end(_:with:)``.
final class CurlLoop {
    /// The longest sleep of the thread, in milliseconds; the mailbox wakes it earlier.
    private static let maxSleepMilliseconds = 60_000
    /// The most easy handles kept for reuse.
    private static let maxIdleHandles = 256
    /// The time without a use after which a connection is not used again, in seconds: libcurl's default.
    private static let maxIdleSeconds = 118

    private let mailbox: CurlMailbox
    private let configuration: HTTPClientConfiguration
    private let logger: Logger
    private let multi: UnsafeMutableRawPointer
    private var transfers: [UInt64: CurlTransfer] = [:]
    private var idleTransfers: [CurlTransfer] = []
    private let connectionSeconds: Int
    private var batch = CurlMailbox.Batch()
    /// The time of the next search for silent transfers.
    private var nextSearch: ContinuousClock.Instant = .now
    /// The time at which a request last timed out after it was sent.
    private var lastTimeout: ContinuousClock.Instant?

    init(mailbox: CurlMailbox, configuration: HTTPClientConfiguration, logger: Logger) {
        self.mailbox = mailbox
        self.configuration = configuration
        self.logger = logger
        multi = CurlLibrary.makeMulti()
        // Jitter, so that clients started together do not all reconnect together.
        let lifetime = configuration.connectionLifetime * Double.random(in: 0.75...1.25)
        connectionSeconds = max(1, Int(lifetime.components.seconds))
        hg_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        hg_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maxConnectionsPerHost)
        hg_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.maxStreamsPerConnection)
        mailbox.open(multi: multi)
    }

    func run() {
        while true {
            let closeDeadline = mailbox.take(into: &batch)
            process()
            if nextSearch <= .now { timeOutSilent(.now) }
            perform()
            collect()
            var timeout = mailbox.mayFallAsleep() ? Self.maxSleepMilliseconds : 0
            if !transfers.isEmpty { timeout = min(timeout, max(nextSearch - .now, .zero).curlMilliseconds) }
            if let deadline = closeDeadline {
                let left = deadline - .now
                if transfers.isEmpty || left <= .zero { break }
                timeout = min(timeout, left.curlMilliseconds)
            }
            // libcurl shortens the sleep to its next own timer.
            let status = curl_multi_poll(multi, nil, 0, Int32(timeout), nil)
            if status != CURLM_OK { logger.debug("curl_multi_poll failed", metadata: ["code": "\(status.rawValue)"]) }
        }
        close()
    }

    private func process() {
        for call in batch.calls { start(call) }
        for id in batch.cancellations {
            guard let transfer = transfers[id] else { continue }
            end(transfer, with: .failure(transfer.abandoned(.cancelled, "the caller was cancelled")))
        }
        batch.removeAll()
    }

    private func start(_ call: CurlMailbox.PostedCall) {
        let idle = idleTransfers.popLast()
        guard let transfer = idle ?? CurlTransfer(configuration: configuration, connectionSeconds: connectionSeconds) else {
            mailbox.callEnded()
            let error = HTTPClientError(.notSent, mayHaveReachedServer: false, "libcurl is out of memory")
            call.completion(.failure(error))
            return
        }
        transfer.begin(call, maxIdleSeconds: maxIdleSeconds)
        transfers[call.id] = transfer
        let status = curl_multi_add_handle(multi, transfer.easy)
        if status != CURLM_OK {
            end(transfer, with: .failure(transfer.abandoned(.notSent, "libcurl refused the request")))
        }
    }

    /// The age from which an idle connection is not used again. An idle connection that was not used since a request timed out may be as
    /// silent as that request's connection.
    private var maxIdleSeconds: Int {
        guard let lastTimeout else { return Self.maxIdleSeconds }
        return min(max(1, Int((ContinuousClock.now - lastTimeout).components.seconds)), Self.maxIdleSeconds)
    }

    /// Times out the transfers without a byte for the limit.
    private func timeOutSilent(_ now: ContinuousClock.Instant) {
        nextSearch = now + configuration.silenceLimit / 8
        for transfer in transfers.values where transfer.silence(now: now) >= configuration.silenceLimit { transfer.timeOut() }
    }

    private func perform() {
        var running: Int32 = 0
        let status = curl_multi_perform(multi, &running)
        if status != CURLM_OK { logger.debug("curl_multi_perform failed", metadata: ["code": "\(status.rawValue)"]) }
    }

    /// Ends the calls whose transfers libcurl has completed.
    private func collect() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            // The message becomes invalid once its handle is removed, so it is read first.
            let (kind, easy, result) = (message.pointee.msg, message.pointee.easy_handle, message.pointee.data.result)
            guard kind == CURLMSG_DONE, let easy, let transfer = CurlTransfer.of(easy) else { continue }
            let outcome = transfer.outcome(result)
            if result == CURLE_OPERATION_TIMEDOUT, transfer.hasBegun { timedOut(transfer, .now) }
            end(transfer, with: outcome)
        }
    }

    /// Prevents a silent connection from taking one request after another. libcurl closes the connection of a timed-out request itself, but
    /// not an HTTP/2 connection, and not other connections that may have fallen silent at the same time.
    private func timedOut(_ transfer: CurlTransfer, _ now: ContinuousClock.Instant) {
        lastTimeout = now
        let silence = transfer.silence(now: now)
        // A short time limit is no reason to fail the other requests of a connection.
        guard transfers.count == 1 || silence >= configuration.silenceLimit / 2 else { return }
        transfer.shutDownConnection(silentFor: silence)
    }

    /// Removes a transfer from libcurl and resumes its caller.
    private func end(_ transfer: CurlTransfer, with result: Result<HTTPClientResponse, HTTPClientError>) {
        guard let call = transfer.call else { return }
        transfers[call.id] = nil
        curl_multi_remove_handle(multi, transfer.easy)
        transfer.end()
        if idleTransfers.count < Self.maxIdleHandles { idleTransfers.append(transfer) }
        mailbox.callEnded()
        call.completion(result)
    }

    private func close() {
        // Since the deadline was set, new calls are refused, but one may have been posted just before.
        batch = mailbox.seal()
        process()
        for transfer in Array(transfers.values) {
            end(transfer, with: .failure(transfer.abandoned(.shutDown, "the client was shut down")))
        }
        idleTransfers = []
        curl_multi_cleanup(multi)
    }
}
