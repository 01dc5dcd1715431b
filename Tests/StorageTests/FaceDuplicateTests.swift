import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

struct FaceDuplicateTests {
    private var duplicates: FaceDuplicateRepository { FaceDuplicateRepository(client) }
    private var pending: PendingEnrolmentRepository { PendingEnrolmentRepository(client) }

    private func face(of user: UUID) -> NewFaceTemplate {
        NewFaceTemplate(userID: user, modelID: "m", pipelineVersion: 1, templateSealed: [1])
    }

    /// Creates an account with a face.
    private func enrolled(_ seed: Int) async throws -> UUID {
        let user = try await client.user(seed)
        try await faces.upsert(face(of: user))
        return user
    }

    @Test(.storage) func `a pair is stored once, in whichever order`() async throws {
        let (ada, ben) = (try await enrolled(1), try await enrolled(2))
        #expect(try await duplicates.add([ben, ada], of: ada) == 1)
        #expect(try await duplicates.add([ada], of: ben) == 0)
        #expect(try await duplicates.list(.open, limit: 9).map(\.otherID) == [ben])
    }

    @Test(.storage) func `only one who has a face, or waits for a proof, is stored`() async throws {
        let ada = try await enrolled(1)
        #expect(try await duplicates.add([UUID()], of: ada) == 0)
        let (session, waiting) = (UUID(), UUID())
        try await pending.insert(id: session, face: face(of: waiting), photos: [])
        #expect(try await duplicates.add([waiting], of: ada) == 1)
        #expect(try await duplicates.list(.open, limit: 9).isEmpty)
        #expect(try await !duplicates.conflicts(of: ada, with: [waiting]))
    }

    @Test(.storage) func `an account that is being erased is not stored`() async throws {
        let (ada, ben) = (try await enrolled(1), try await enrolled(2))
        try await client.execute(
            "UPDATE users SET state = 'erasing', email_sealed = NULL, subject_sealed = NULL, display_name_sealed = NULL WHERE id = \(ben)")
        #expect(try await duplicates.add([ben], of: ada) == 0)
        #expect(try await !duplicates.conflicts(of: ada, with: [ben]))
    }

    @Test(.storage) func `a resolved pair is no conflict`() async throws {
        let (ada, ben) = (try await enrolled(1), try await enrolled(2))
        _ = try await duplicates.add([ben], of: ada)
        #expect(try await duplicates.conflicts(of: ben, with: [ada]))
        let id = try #require(try await duplicates.list(.open, limit: 1).first?.id)
        #expect(try await duplicates.resolve(id: id))
        #expect(try await !duplicates.resolve(id: id))
        #expect(try await !duplicates.conflicts(of: ben, with: [ada]))
        #expect(try await duplicates.list(.resolved, limit: 9).map(\.id) == [id])
    }

    @Test(.storage) func `a waiting face that refuses duplicates takes no effect while another account has it`() async throws {
        let (ada, session, ben) = (try await enrolled(1), UUID(), UUID())
        try await pending.insert(id: session, face: face(of: ben), photos: [], refusesDuplicates: true)
        _ = try await duplicates.add([ada], of: ben)
        _ = try await client.makeUser(id: ben, emailLookup: hash(2), emailSealed: [1])
        #expect(try await pending.enrol(id: session) == .faceInUse)
        try await client.execute("DELETE FROM users WHERE id = \(ada)")
        #expect(try await pending.enrol(id: session) == .enrolled)
        #expect(try await pending.enrol(id: session) == .nothing)
    }

    @Test(.storage) func `of two waiting faces of one person the second takes no effect`() async throws {
        let ids = [UUID(), UUID()]
        for id in ids { try await pending.insert(id: id, face: face(of: id), photos: [], refusesDuplicates: true) }
        #expect(try await duplicates.add([ids[0]], of: ids[1]) == 1)
        for (seed, id) in ids.enumerated() { _ = try await client.makeUser(id: id, emailLookup: hash(seed), emailSealed: [1]) }
        let results = try await race(2) { index in
            try await client.withTransaction { transaction in
                let pending = PendingEnrolmentRepository(transaction)
                try await pending.lock(id: ids[index])
                return try await pending.enrol(id: ids[index])
            }
        }
        #expect(Set(results) == [.enrolled, .faceInUse])
    }

    @Test(.storage) func `a pair of which one has no face any more is deleted`() async throws {
        let (ada, ben, cem) = (try await enrolled(1), try await enrolled(2), try await enrolled(3))
        _ = try await duplicates.add([ben, cem], of: ada)
        try await client.execute("DELETE FROM face_templates WHERE user_id = \(ben)")
        #expect(try await duplicates.deleteWithoutFace(limit: 9) == 1)
        #expect(try await duplicates.list(.open, limit: 9).map(\.otherID) == [cem])
    }

    @Test(.storage, arguments: ErasureScope.allCases) func `an erasure takes the pairs of either side`(_ scope: ErasureScope) async throws {
        let (ada, ben, cem) = (try await enrolled(1), try await enrolled(2), try await enrolled(3))
        _ = try await duplicates.add([ben], of: ada)
        _ = try await duplicates.add([ben], of: cem)
        let new = NewErasure(id: UUID(), scope: scope, userID: ben, tokenHash: hash(2), requestedBy: .user)
        #expect(try await client.withTransaction { try await ErasureRepository($0).begin(new) })
        let erasure = try #require(try await ErasureRepository(client).find(id: new.id))
        #expect(try await FaceErasureRepository(client).deleteDuplicates(for: erasure) == 2)
    }
}
