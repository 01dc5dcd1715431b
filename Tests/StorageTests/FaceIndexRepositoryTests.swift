import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

struct FaceIndexRepositoryTests {
    private static let model = FaceModel(id: "m", pipelineVersion: 1)
    private var indexes: FaceIndexRepository { FaceIndexRepository(client) }

    private func report(_ worker: String, faces: Int = 0) -> FaceIndexReport {
        FaceIndexReport(worker: worker, faces: faces, unusable: 1, facesRead: nil, reindexed: nil)
    }

    @Test(.storage) func `a report replaces the last one of its worker`() async throws {
        try await indexes.report(report("a", faces: 1))
        try await indexes.report(FaceIndexReport(worker: "a", faces: 2, unusable: 3, facesRead: 4, reindexed: 5))
        try await indexes.report(report("b"))
        let state = try await indexes.state(of: Self.model)
        #expect(
            state.workers.map(\.report) == [
                FaceIndexReport(worker: "a", faces: 2, unusable: 3, facesRead: 4, reindexed: 5), report("b"),
            ])
    }

    @Test(.storage) func `the faces of the network are counted, of accounts and of sign-ups that wait`() async throws {
        for (seed, id) in [(1, "m"), (2, "m"), (3, "other")] {
            try await faces.upsert(
                NewFaceTemplate(userID: try await client.user(seed), modelID: id, pipelineVersion: 1, templateSealed: [1]))
        }
        let waiting = NewFaceTemplate(userID: UUID(), modelID: "m", pipelineVersion: 1, templateSealed: [1])
        try await PendingEnrolmentRepository(client).insert(id: UUID(), face: waiting, photos: [])
        let state = try await indexes.state(of: Self.model)
        #expect(state.stored == 3 && state.workers.isEmpty)
    }

    @Test(.storage) func `a worker without a report for half a minute does not count as running`() async throws {
        for worker in ["a", "b"] { try await indexes.report(report(worker)) }
        try await client.execute("UPDATE face_indexes SET reported_at = now() - interval '31 seconds' WHERE worker = 'a'")
        #expect(try await indexes.state(of: Self.model).workers.map(\.report.worker) == ["b"])
    }

    @Test(.storage) func `reports of workers that ended are deleted`() async throws {
        for worker in ["a", "b", "c"] { try await indexes.report(report(worker)) }
        try await indexes.remove(worker: "a")
        try await client.execute("UPDATE face_indexes SET reported_at = now() - interval '61 minutes' WHERE worker = 'b'")
        #expect(try await indexes.deleteSilent(limit: 10) == 1)
        #expect(try await indexes.state(of: Self.model).workers.map(\.report.worker) == ["c"])
    }

    @Test(.storage) func `a later request has a higher number`() async throws {
        #expect(try await indexes.lastRequest() == 0)
        let first = try await indexes.request()
        let second = try await indexes.request()
        #expect(second > first)
        #expect(try await indexes.lastRequest() == second)
    }
}
