internal import BlobStore
internal import FoundationEssentials
internal import Logging
internal import Pictures
internal import PostgresClient

/// Deletes the objects of jobs from the blob store. The sweeper repeats a deletion that failed.
struct JobCleanup: Sendable {
    let postgres: PostgresClient
    let store: any BlobStore

    /// Deletes the upload and the unprocessed pictures of an ended job; all its objects if it has no result.
    func deleteInputs(of job: ImageJob, hasPicture: Bool) async throws {
        let blobs = JobBlobs(store: store, jobID: job.id)
        if hasPicture {
            let attempts = try await ImageAttemptRepository(postgres).list(jobID: job.id).map(\.number).max() ?? 0
            try await blobs.deleteInputs(upload: job.inputKey, attempts: attempts)
        } else {
            try await blobs.deleteAll()
        }
        try await ImageJobRepository(postgres).inputsDeleted([job.id])
    }

    /// Deletes the objects and then the row of a job that was deleted or has expired; does nothing for any other job.
    func deleteIfGone(_ id: UUID) async throws {
        let jobs = ImageJobRepository(postgres)
        guard try await jobs.find(id: id) == nil else { return }
        try await JobBlobs(store: store, jobID: id).deleteAll()
        try await jobs.remove([id])
    }

    /// Runs a deletion and logs its failure, which does not affect the job. Returns whether it succeeded.
    @discardableResult
    func attempt(_ id: UUID, _ logger: Logger, _ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return true
        } catch {
            logger.error("objects of a job not deleted, the sweeper will retry", metadata: ["job": "\(id)", "error": "\(error)"])
            return false
        }
    }
}
