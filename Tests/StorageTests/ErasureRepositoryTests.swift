import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

@Suite struct ErasureRepositoryTests {
    private static let services = ["a", "b"]

    @Test(.storage) func `an account in erasure has no e-mail, and another one can have it at once`() async throws {
        let ada = try await client.user()
        _ = try await client.beginErasure(of: ada)
        #expect(try await UserRepository(client).find(emailLookup: hash(1)) == nil)
        #expect(try await client.user() != ada)
    }

    @Test(.storage) func `an account is erased once, and its face beside it`() async throws {
        let ada = try await client.user()
        let new = { NewErasure(id: UUID(), scope: $0, userID: $1, tokenHash: hash(2), requestedBy: .operator) }
        let begin = { (scope: ErasureScope, user: UUID) in
            try await client.withTransaction { try await ErasureRepository($0).begin(new(scope, user)) }
        }
        for scope in ErasureScope.allCases.reversed() {
            #expect(try await begin(scope, ada))
            #expect(try await !begin(scope, ada))
        }
        #expect(try await !begin(.account, UUID()))
    }

    @Test(.storage) func `sessions in progress end with the request`() async throws {
        let ada = try await client.user()
        let session = try await SessionRepository(client).insert(.make(user: ada))
        _ = try await client.beginErasure(of: ada)
        #expect(try await SessionRepository(client).find(id: session.id)?.state == .expired)
        #expect(try await SessionRepository(client).beginProcessing(id: session.id) == nil)
    }

    @Test(.storage) func `a person of an identity provider gets another account with a later sign-in only`() async throws {
        let identities = FederatedIdentityRepository(client)
        let find = { (time: Date) in
            try await identities.findOrCreate(issuer: "https://example.org", subjectLookup: hash(3), signedInAt: time)?.identity.userID
        }
        let before = Date()
        let first = try #require(try await find(before))
        _ = try await client.beginErasure(of: first)
        #expect(try await find(before) == nil)
        let second = try #require(try await find(Date(timeIntervalSinceNow: 60)))
        #expect(second != first)
    }

    @Test(.storage) func `services that have not reported are asked again, after a while`() async throws {
        let erasures = ErasureRepository(client)
        let erasure = try await client.beginErasure(of: try await client.user())
        let take = { try await erasures.takeUnreported(services: Self.services, olderThan: .seconds(10), limit: 10) }
        #expect(try await take().isEmpty)
        try await client.execute("UPDATE erasures SET published_at = now() - interval '11 s'")
        #expect(try await take() == [erasure.id])
        #expect(try await take().isEmpty, "it was taken just now")
        for service in Self.services { try await erasures.finish(erasure.id, by: service) }
        try await client.execute("UPDATE erasures SET published_at = now() - interval '11 s'")
        #expect(try await take().isEmpty)
    }

    @Test(.storage) func `numbers of several runs add up`() async throws {
        let erasures = ErasureRepository(client)
        let erasure = try await client.beginErasure(of: try await client.user())
        for _ in 0..<2 {
            try await erasures.add(3, of: "x", to: erasure.id, by: "a")
            try await erasures.add(1, of: "y", to: erasure.id, by: "a")
        }
        try await erasures.finish(erasure.id, by: "a")
        let reports = try #require(try await erasures.status(id: erasure.id, tokenHash: nil)).reports
        #expect(reports.map(\.counts) == [["x": 6, "y": 2]] && reports[0].finishedAt != nil)
    }

    @Test(.storage) func `an erasure is completed when all services have reported, and not before its age`() async throws {
        let erasures = ErasureRepository(client)
        let erasure = try await client.beginErasure(of: try await client.user())
        let lock = { (age: Duration) in
            try await client.withTransaction {
                try await ErasureRepository($0).lockReported(services: Self.services, olderThan: age, except: [])
            }
        }
        try await erasures.finish(erasure.id, by: "a")
        #expect(try await lock(.zero) == nil)
        try await erasures.finish(erasure.id, by: "b")
        #expect(try await lock(.seconds(60)) == nil)
        #expect(try await lock(.zero)?.id == erasure.id)
        try await erasures.reopen(erasure.id)
        #expect(try await lock(.zero) == nil)
    }

    @Test(.storage) func `the audit log keeps what happened under the id of the erasure, and nothing else may change it`() async throws {
        let ada = try await client.user()
        let audit = AuditRepository(client)
        try await audit.append(
            AuditEntry(.signedIn, by: .user(ada), on: ada, object: UUID(), requestID: "r", detail: "x", addressKey: hash(5)))
        try await audit.append(AuditEntry(.accountShown, by: .operator("eve"), on: ada))
        let erasure = try await client.beginErasure(of: ada)
        for statement in ["action = 'x'", "subject_id = gen_random_uuid()", "actor_id = 'mallory'"] {
            await #expect(throws: PostgresError.self) {
                try await client.execute("UPDATE audit_log SET \(unescaped: statement) WHERE subject_id = \(ada)")
            }
        }
        _ = try await client.withTransaction { try await ErasureRepository($0).complete(erasure) }
        let records = try await audit.find(.user(erasure.id), since: .distantPast, limit: 10)
        #expect(records.map(\.action) == ["signed_in", "account_shown"] && records.map(\.actorID) == [erasure.id.wireString, "eve"])
        #expect(records[0].objectID == nil && records[0].requestID == nil && records[0].detail == "x")
        #expect(try await audit.find(.user(ada), since: .distantPast, limit: 10).isEmpty)
    }

    @Test(.storage) func `the audit log of an account that is not being erased stays as it is, and one that is never becomes active again`()
        async throws
    {
        let ada = try await client.user()
        try await AuditRepository(client).append(AuditEntry(.signedIn, by: .user(ada), on: ada))
        let erasure = try await client.beginErasure(.face, of: ada)
        try await client.execute("UPDATE erasures SET scope = 'account' WHERE id = \(erasure.id)")
        #expect(try await client.query("SELECT audit_log_pseudonymise(\(erasure.id)) AS n").required().decode("n", as: Int.self) == 0)
        try await client.execute("UPDATE users SET state = 'erasing', email_sealed = NULL")
        await #expect(throws: PostgresError.self) { try await client.execute("UPDATE users SET state = 'active'") }
        #expect(try await client.query("SELECT audit_log_pseudonymise(\(erasure.id)) AS n").required().decode("n", as: Int.self) == 1)
    }

    @Test(.storage) func `proofs of the e-mail that were not given go, and their sessions are erased with the account`() async throws {
        let ada = try await client.user(1)
        let email = SealedEmail(lookup: hash(1), sealed: [1])
        let verifications = EmailVerificationRepository(client)
        let decided = try await sessions.insert(.make(.signUp, user: UUID()))
        try await client.withTransaction { transaction in
            let proof = NewEmailVerification(id: decided.id, purpose: .enrolment, email: email)
            _ = try await EmailVerificationRepository(transaction).insert(proof)
            try await PendingEnrolmentRepository(transaction).insert(
                id: decided.id,
                face: NewFaceTemplate(userID: decided.userID, modelID: "m", pipelineVersion: 1, templateSealed: [1]), photos: [])
        }
        let undecided = try await sessions.insert(NewSession(userID: UUID(), event: .signUp, email: email, tokenHash: hash(8)))
        let other = try await sessions.insert(.make(.signUp, user: UUID()))
        let erasure = try await client.beginErasure(of: ada)
        #expect(try await verifications.find(id: decided.id) == nil)
        #expect(try await client.query("SELECT FROM pending_enrolments").isEmpty)
        let found = try await AccountErasureRepository(client).sessions(for: erasure, after: nil, limit: 10)
        #expect(Set(found) == [decided.id, undecided.id] && !found.contains(other.id))
        #expect(try await sessions.find(id: undecided.id)?.state == .expired)
        let reports = try #require(try await ErasureRepository(client).status(id: erasure.id, tokenHash: nil)).reports
        #expect(reports.map(\.counts) == [["code_mails": 1, "email_verifications": 1, "pending_enrolments": 1]])
    }

    @Test(.storage) func `the e-mail goes from the change of an account that had it before`() async throws {
        let change = NewEmailVerification(purpose: .emailChange, email: SealedEmail(lookup: hash(2), sealed: [2]))
        let verifications = EmailVerificationRepository(client)
        _ = try await client.withTransaction { try await EmailVerificationRepository($0).insert(change) }
        _ = try await verifications.verify(id: change.id, replacing: SealedEmail(lookup: hash(1), sealed: [1]))
        _ = try await client.beginErasure(of: try await client.user(9))
        #expect(try await verifications.find(id: change.id)?.formerEmail?.hash == hash(1), "another e-mail is erased")
        _ = try await client.beginErasure(of: try await client.user(1))
        let kept = try #require(try await verifications.find(id: change.id))
        #expect(kept.formerEmail == nil && kept.email.hash == hash(2))
    }

    @Test(.storage) func `an account with rows of a late request is not completed`() async throws {
        let ada = try await client.user()
        let erasure = try await client.beginErasure(of: ada)
        let hasRemains = { try await client.withTransaction { try await ErasureRepository($0).hasRemains(of: erasure) } }
        #expect(try await !hasRemains())
        _ = try await SessionRepository(client).insert(.make(user: ada))
        #expect(try await hasRemains())
    }
}
