internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Hands what URLSession reports on to the ``Transfer`` that it is about.
final class TransferDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Locked<[Int: Transfer]>([:])

    /// The transfers that have not ended.
    var count: Int { transfers.withLock { $0.count } }

    /// Whether a transfer waits for something still.
    var isBusy: Bool { transfers.withLock { $0.values.contains { $0.idleTime != nil } } }

    func add(_ transfer: Transfer, for task: URLSessionTask) { transfers.withLock { $0[task.taskIdentifier] = transfer } }

    func remove(_ task: URLSessionTask) { transfers.withLock { $0[task.taskIdentifier] = nil } }

    private func transfer(of task: URLSessionTask) -> Transfer? { transfers.withLock { $0[task.taskIdentifier] } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let transfer = transfer(of: dataTask), let response = response as? HTTPURLResponse else { return completionHandler(.cancel) }
        completionHandler(transfer.receive(response) ? .allow : .cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let transfer = transfer(of: dataTask), transfer.receive(data) else { return dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfer(of: task)?.touch()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfer(of: task)?.complete(error)
        remove(task)
    }

    /// Ends the transfer with the redirection itself: the API does not redirect, and another host must not get the credentials.
    ///
    /// On Linux the handler is not called: URLSession ends the process there when the task was cancelled before, which another thread may
    /// do at any moment.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        transfer(of: task)?.finish(.success(TransportResponse(response)))
        #if !canImport(FoundationNetworking)
            completionHandler(nil)
        #endif
        task.cancel()
    }

    /// Leaves certificates to the system, and answers no other challenge: the credentials of the API are in the request.
    ///
    /// URLSession on Linux ends the task as cancelled after a 401 with `WWW-Authenticate: Basic`; the transfer therefore ends here.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            if let response = challenge.failureResponse as? HTTPURLResponse {
                transfer(of: task)?.finish(.success(TransportResponse(response)))
                task.cancel()
            }
        #endif
        completionHandler(.performDefaultHandling, nil)
    }
}
