/// The continuation of a task that waits for the replies to a request.
enum ReplyPromise: Sendable {
    case single(CheckedContinuation<Result<RedisReply, RedisError>, Never>)
    case pipeline(CheckedContinuation<Result<[RedisReply], RedisError>, Never>)

    /// Resumes the task with all its replies, of which there is at least one.
    func succeed(_ replies: [RedisReply]) {
        switch self {
        case .single(let continuation): continuation.resume(returning: .success(replies[0]))
        case .pipeline(let continuation): continuation.resume(returning: .success(replies))
        }
    }

    func fail(_ error: RedisError) {
        switch self {
        case .single(let continuation): continuation.resume(returning: .failure(error))
        case .pipeline(let continuation): continuation.resume(returning: .failure(error))
        }
    }
}

/// A request in the queue of a connection.
typealias Request = ReplyQueue<ReplyPromise>.Request
