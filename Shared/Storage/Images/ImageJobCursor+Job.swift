internal import FoundationEssentials

extension ImageJobCursor {
    /// Makes the position after a job.
    public init(after job: ImageJob) {
        self.init(microseconds: Int64((job.createdAt.timeIntervalSince1970 * 1_000_000).rounded()), id: job.id)
    }
}
