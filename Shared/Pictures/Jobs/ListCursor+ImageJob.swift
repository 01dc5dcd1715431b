public import Accounts

extension ListCursor {
    /// Makes the position after a job.
    public init(after job: ImageJob) { self.init(after: job.createdAt, job.id) }
}
