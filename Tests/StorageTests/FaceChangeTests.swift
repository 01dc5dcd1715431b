import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

struct FaceChangeTests {
    private static let model = FaceModel(id: "m", pipelineVersion: 1)
    private var changes: FaceChangeRepository { FaceChangeRepository(client) }

    private func face(of user: UUID, model: String = "m") -> NewFaceTemplate {
        NewFaceTemplate(userID: user, modelID: model, pipelineVersion: 1, templateSealed: Array(user.wireString.utf8))
    }

    /// The numbers that came since a position, but those that were seen at it: other tests' transactions make a look see them again.
    private func added(since position: FacePosition) async throws -> Set<Int64> {
        Set(try await changes.changes(since: position).added).subtracting(position.seen)
    }

    private func numbers(of faces: [NumberedFace]) -> [Int64] { faces.map(\.number) }

    @Test(.storage) func `faces are read in pages, and those of another network are not`() async throws {
        for seed in 1...5 { try await faces.upsert(face(of: try await client.user(seed), model: seed == 2 ? "other" : "m")) }
        try await PendingEnrolmentRepository(client).insert(id: UUID(), face: face(of: UUID()), photos: [])
        var (read, last): ([NumberedFace], Int64?) = ([], nil)
        repeat {
            let page = try await changes.page(of: Self.model, after: last, limit: 2)
            read += page
            last = page.last?.number
        } while last != nil
        #expect(read.count == 5 && numbers(of: read) == numbers(of: read).sorted())
        #expect(try await changes.faces(of: Self.model, numbers: numbers(of: read)).count == 5)
    }

    @Test(.storage) func `a look sees what was committed after the one before, whatever the order of the numbers`() async throws {
        let users = [try await client.user(1), try await client.user(2)]
        let start = try await changes.position()
        var middle = start
        try await client.withTransaction { transaction in
            // The first number, which is committed last.
            try await FaceTemplateRepository(transaction).upsert(face(of: users[0]))
            try await faces.upsert(face(of: users[1]))
            let seen = try await changes.changes(since: start)
            #expect(seen.added.count == 1)
            middle = seen.position
        }
        let end = try await changes.changes(since: middle)
        #expect(Set(end.added).subtracting(middle.seen).count == 1)
        #expect(try await changes.faces(of: Self.model, numbers: end.added).map(\.userID).contains(users[0]))
        #expect(try await added(since: end.position).isEmpty)
    }

    @Test(.storage) func `a face that replaces another has a new number, and one that is sealed anew keeps its number`() async throws {
        let user = try await client.user()
        try await faces.upsert(face(of: user))
        let before = try await changes.page(of: Self.model, after: nil, limit: 9)
        let position = try await changes.changes(since: changes.position()).position
        try await client.execute("UPDATE face_templates SET template_sealed = '\\x01'")
        #expect(try await numbers(of: changes.page(of: Self.model, after: nil, limit: 9)) == numbers(of: before))
        #expect(try await added(since: position).isEmpty)
        try await faces.upsert(face(of: user))
        #expect(try await changes.changes(since: position).removed == numbers(of: before))
        #expect(try await added(since: position) == Set(numbers(of: changes.page(of: Self.model, after: nil, limit: 9))))
    }

    @Test(.storage) func `a face changes its number when it takes effect or is replaced while it waits`() async throws {
        let user = try await client.user()
        let pending = PendingEnrolmentRepository(client)
        let position = try await changes.position()
        try await pending.insert(id: user, face: face(of: user), photos: [])
        #expect(try await pending.enrol(id: user) == .enrolled)
        try await client.startRecovery(with: face(of: user))
        try await client.startRecovery(with: face(of: user))
        try await client.execute("DELETE FROM users")
        _ = try await pending.cancelRecovery(of: user)
        let seen = try await changes.changes(since: position)
        #expect(seen.added.isEmpty && seen.removed.count == 4)
    }

    @Test(.storage) func `a look begins anew in a database that is at an earlier state`() async throws {
        let position = try await changes.position()
        #expect(try await !changes.changes(since: position).isReset)
        let later = FacePosition(oldestRunning: position.oldestRunning + 1_000_000, seen: [])
        #expect(try await changes.changes(since: later).isReset)
    }

    @Test(.storage) func `removals are kept for a day`() async throws {
        try await faces.upsert(face(of: try await client.user()))
        try await client.execute("DELETE FROM users")
        #expect(try await changes.deleteOldRemovals(limit: 10) == 0)
        try await client.execute("UPDATE face_removals SET removed_at = now() - interval '25 hours'")
        #expect(try await changes.deleteOldRemovals(limit: 10) == 1)
    }
}
