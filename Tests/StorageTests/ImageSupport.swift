import FoundationEssentials
import Pictures
import PostgresClient
import TestSupport
import Testing
import WireFormat

extension ImageJobRepository {
    /// Completes a job.
    func finish(_ id: UUID) async throws {
        _ = try await begin(id: id)
        #expect(try await complete(id: id, result: .test))
    }
}

extension PostgresClient {
    /// The whole row of a job, even a deleted or expired one.
    func imageJobRow(_ id: UUID) async throws -> String {
        try await #require(query("SELECT j::text AS line FROM image_jobs j WHERE id = \(id)").first).decode("line")
    }
}

extension NewImageJob {
    static func make(_ user: UUID) -> NewImageJob {
        let id = UUID()
        return NewImageJob(id: id, userID: user, templateID: "vintage", inputKey: "images/\(id.wireString)/input")
    }
}

extension ImageJob.Result {
    static let test = ImageJob.Result(
        key: "images/x/result", format: "jpeg", byteCount: 1000, width: 30, height: 20, originalWidth: 300, originalHeight: 200,
        thumbnailKey: "images/x/thumbnail", modelUsed: "local", generationTimeMs: 12)
}

extension ImageJob.Failure {
    static let test = ImageJob.Failure(code: .processingFailed, message: "Something went wrong.")
}
