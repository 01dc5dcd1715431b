public import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests by URLSession, without cookies, caches and redirections, and with limits for time and bytes.
///
/// One is enough for an app. Its connections end with it.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    let delegate = TransferDelegate()

    /// Creates a transport.
    ///
    /// - Parameter connectionsPerHost: The most connections of HTTP/1.1 at once; a stream of events keeps one while it is open.
    public init(connectionsPerHost: Int = 8) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    // A session that is not invalidated keeps its threads and its delegate for ever.
    deinit { session.invalidateAndCancel() }

    /// Sends a request once and keeps the body of its answer in memory.
    ///
    /// - Throws: ``TransportError``; `timedOut` when no byte has come for the request's timeout, `cancelled` when the task is cancelled.
    public func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        let transfer = Transfer(to: .memory, maxBytes: maxBytes, hasBody: request.method != "HEAD")
        return try await run(transfer, request) { await transfer.outcome() }
    }

    /// Sends a request, and writes the body of an answer with status 200 to a file, which must not exist.
    ///
    /// Until it is complete, the file has a name of its own that ends in `.part`; if the process ends, that file may remain.
    public func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        let transfer = Transfer(to: .file(file), maxBytes: maxBytes)
        return try await run(transfer, request) { await transfer.outcome() }
    }

    /// Sends a request once and hands on the lines of its answer, each of at most 1 MiB.
    ///
    /// - Throws: ``TransportError``; `tooLong` for a longer line or a slow reader, `timedOut` after a silence of the request's timeout.
    public func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse {
        let (pieces, feed) = AsyncStream.makeStream(of: Data.self)
        let transfer = Transfer(to: .pieces(feed), maxBytes: .max)
        return try await run(transfer, request) {
            await Self.read(pieces, of: transfer, onLine: onLine)
            return await transfer.outcome()
        }
    }

    /// Hands the lines of a stream on until it ends, is too long, or the reader has enough; then the transfer is over.
    private static func read(_ pieces: AsyncStream<Data>, of transfer: Transfer, onLine: @Sendable (String) async -> Bool) async {
        var splitter = LineSplitter()
        for await piece in pieces {
            transfer.take(piece.count)
            let lines: [String]
            do { lines = try splitter.append(piece) } catch {
                return transfer.finish(.failure(TransportError(.tooLong, "A line of the stream is longer than is allowed")))
            }
            for line in lines where await !onLine(line) { return transfer.stop() }
        }
        if let rest = splitter.rest() { _ = await onLine(rest) }
    }

    /// Sends a request; ends it when the task is cancelled, or when no byte has come for the request's timeout.
    private func run(
        _ transfer: Transfer, _ request: TransportRequest, outcome: () async -> Transfer.Outcome
    ) async throws(TransportError) -> TransportResponse {
        let task = try makeTask(request)
        delegate.add(transfer, for: task)
        let timeout = request.timeout
        let watchdog = Task {
            while let idle = transfer.idleTime {
                guard idle < timeout else {
                    return transfer.finish(.failure(TransportError(.timedOut, "No byte has come for \(timeout)")))
                }
                try await Task.sleep(for: timeout - idle)
            }
        }
        defer {
            watchdog.cancel()
            // Also called after a success: later events of URLSession do not matter.
            delegate.remove(task)
            task.cancel()
        }
        let result = await withTaskCancellationHandler {
            if Task.isCancelled { transfer.finish(.failure(Self.cancelled)) } else { task.resume() }
            return await outcome()
        } onCancel: {
            transfer.finish(.failure(Self.cancelled))
        }
        return try result.get()
    }

    private static let cancelled = TransportError(.cancelled, "The task was cancelled")

    private func makeTask(_ request: TransportRequest) throws(TransportError) -> URLSessionTask {
        var urlRequest = URLRequest(url: request.url)
        urlRequest.httpMethod = request.method
        urlRequest.httpShouldHandleCookies = false
        // The watchdog decides; this timeout is for the case that the process was suspended.
        urlRequest.timeoutInterval = request.timeout / .seconds(1) + 10
        for (name, value) in request.headers.values {
            guard HeaderRules.isName(name), HeaderRules.isValue(value) else {
                throw TransportError(.other, "A header of the request has characters that are not allowed")
            }
            urlRequest.setValue(value, forHTTPHeaderField: name)
        }
        switch request.body {
        case .none: return session.dataTask(with: urlRequest)
        case .data(let data):
            urlRequest.httpBody = data
            return session.dataTask(with: urlRequest)
        case .file(let file):
            // URLSession on Linux ends the process when it cannot read the file.
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder), !isFolder.boolValue,
                FileManager.default.isReadableFile(atPath: file.path)
            else {
                throw TransportError(.file, "The file of the request cannot be read")
            }
            return session.uploadTask(with: urlRequest, fromFile: file)
        }
    }
}

extension Transfer {
    /// Ends a stream whose reader has stopped reading.
    fileprivate func stop() { head.map { finish(.success($0)) } }
}
