#if canImport(UIKit)
    internal import Foundation

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// A `URLSession` of iOS that uploads whether the app runs or not. It makes no decisions: see ``BackgroundUploadReducer``.
    ///
    /// The system keeps a session by its identifier: one object with an identifier may exist at a time, and no other process (an extension,
    /// say) may have it.
    final class BackgroundUploadSession: NSObject, BackgroundUploading, URLSessionDataDelegate {
        let identifier: String
        private let session = Locked<URLSession?>(nil)
        private let answers = Locked<[Int: Data]>([:])
        private let stream: AsyncStream<UploadEvent>
        private let continuation: AsyncStream<UploadEvent>.Continuation

        init(identifier: String) {
            self.identifier = identifier
            (stream, continuation) = AsyncStream.makeStream()
            super.init()
        }

        func events() -> AsyncStream<UploadEvent> {
            _ = urlSession()
            return stream
        }

        func tasks() async -> [(task: Int, description: String?)] {
            await urlSession().allTasks.map { ($0.taskIdentifier, $0.taskDescription) }
        }

        func create(_ upload: UploadTask) async -> Int {
            var request = URLRequest(url: upload.request.url)
            request.httpMethod = upload.request.method
            request.httpShouldHandleCookies = false
            for (name, value) in upload.request.headers.values { request.setValue(value, forHTTPHeaderField: name) }
            let task = urlSession().uploadTask(with: request, fromFile: upload.file)
            task.taskDescription = upload.description
            task.earliestBeginDate = upload.notBefore
            task.resume()
            return task.taskIdentifier
        }

        func cancel(_ task: Int) async {
            for known in await urlSession().allTasks where known.taskIdentifier == task { known.cancel() }
        }

        private func urlSession() -> URLSession {
            session.withLock { session in
                if let session { return session }
                let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
                configuration.isDiscretionary = false
                configuration.sessionSendsLaunchEvents = true
                configuration.timeoutIntervalForRequest = 60
                configuration.timeoutIntervalForResource = BackgroundUploadReducer.Limits.age
                configuration.httpCookieStorage = nil
                configuration.httpShouldSetCookies = false
                configuration.urlCache = nil
                configuration.urlCredentialStorage = nil
                // One event after the other, in the order of the system.
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = 1
                let created = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
                session = created
                return created
            }
        }

        // MARK: Events of the system

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            answers.withLock { answers in
                let room = UploadEvent.maxAnswerBytes - (answers[dataTask.taskIdentifier]?.count ?? 0)
                answers[dataTask.taskIdentifier, default: Data()].append(data.prefix(room))
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let body = answers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            let end: Result<TransportResponse, TransportError> =
                switch (error, task.response as? HTTPURLResponse) {
                case (let error?, _): .failure(TransportError(error))
                case (nil, let response?): .success(Self.answer(response, body ?? Data()))
                case (nil, nil): .failure(TransportError(.connectionLost, "A task has ended without an answer"))
                }
            continuation.yield(.ended(task: task.taskIdentifier, description: task.taskDescription, end))
        }

        private static func answer(_ response: HTTPURLResponse, _ body: Data) -> TransportResponse {
            var answer = TransportResponse(response)
            answer.body = body
            return answer
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { continuation.yield(.finished) }
    }
#endif
