internal import BlobStore
internal import FoundationEssentials
internal import Logging
internal import PostgresClient
internal import Storage

/// Deletes what a job leaves behind in the blob store. What fails here is found again by the sweeper.
struct JobRemains: Sendable {
    let postgres: PostgresClient
    let store: any BlobStore

    /// Deletes the upload of an ended job and what generators gave; of one without a picture, everything.
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

    /// Deletes everything of a job that its user deleted, or that is too old, the row last; another one is left alone.
    func deleteIfGone(_ id: UUID) async throws {
        let jobs = ImageJobRepository(postgres)
        guard try await jobs.find(id: id) == nil else { return }
        try await JobBlobs(store: store, jobID: id).deleteAll()
        try await jobs.remove([id])
    }

    /// Runs a deletion whose failure changes nothing about the job; whether it succeeded.
    @discardableResult
    func attempt(_ id: UUID, _ logger: Logger, _ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return true
        } catch {
            logger.error("what a job left is not deleted yet", metadata: ["job": "\(id)", "error": "\(error)"])
            return false
        }
    }
}
