import Accounts
import Foundation
import HeliographCrypto
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@Suite struct EnrolmentTests {
    @Test func `the face for an e-mail without proof waits for it, whether the e-mail has an account or not`() async throws {
        try await withWorker { worker in
            let known = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: known)
            let face = try await FaceTemplateRepository(worker.postgres).find(userID: known)
            for user in [known, UUID()] {
                let session = try await worker.run(.signUp, try Photos.signUp(), user: user, proof: .none)
                #expect(session.state == .succeeded && session.awaitsVerification)
                #expect(try await worker.pushedUser(of: session.id) != user)
                #expect(try await worker.count("email_verifications WHERE id = '\(session.id)' AND asked_at IS NOT NULL") == 1)
            }
            #expect(try await worker.count("code_mails WHERE requested_at IS NULL AND due_at <= now()") == 2)
            #expect(try await worker.count("pending_enrolments") == 2)
            #expect(try await worker.count("users") == 1)
            #expect(try await FaceTemplateRepository(worker.postgres).find(userID: known) == face)
        }
    }

    @Test func `the owner of a proven e-mail that has an account gets a mail that says so`() async throws {
        try await withWorker { worker in
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let second = try await worker.run(.signUp, try Photos.signUp(), user: user)
            #expect(second.state == .failed && second.reason == .alreadyEnrolled && second.retryable == false)
            #expect(try await worker.count("users") == 1)
        }
    }

    @Test func `a consent is stored with the face that it came with, and that of a face that waits waits with it`() async throws {
        let text = ConsentedText(version: "2026-11", hash: SHA256.hash("text"))
        try await withWorker { worker in
            let consents = ConsentRepository(worker.postgres)
            let user = UUID()
            let session = try await worker.run(.signUp, try Photos.signUp(), user: user, consent: text)
            #expect(try await consents.latest(of: user) == Consent(text: text, givenAt: session.createdAt))
            let suspended = try await worker.run(.signUp, try Photos.signUp(), user: UUID(), proof: .none, consent: text)
            #expect(suspended.state == .succeeded)
            #expect(try await worker.count("consents") == 1)
            #expect(try await worker.count("pending_enrolments WHERE consent_version = '2026-11'") == 1)
        }
    }

    @Test func `a recovery waits, and the face stays until it is due`() async throws {
        try await withWorker { worker in
            let postgres = worker.postgres
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let face = try await FaceTemplateRepository(postgres).find(userID: user)
            let session = try await worker.run(.signUp, try Photos.signUp(), user: user, proof: .recovery)
            #expect(session.state == .succeeded && !session.awaitsVerification)
            let end = try #require(try await PendingEnrolmentRepository(postgres).recovery(of: user))
            #expect((23 * 3_600...24 * 3_600).contains(Int(end.timeIntervalSinceNow)))
            try await eventually("the owner gets a mail") { try await worker.messages("mail.requested", about: user) == 1 }
            #expect(try await FaceTemplateRepository(postgres).find(userID: user) == face)
        }
    }

    @Test func `a face that a signed-in device replaces ends a recovery`() async throws {
        try await withWorker { worker in
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user, proof: .recovery)
            #expect(try await worker.count("pending_enrolments") == 1)
            let session = try await worker.run(.signUp, try Photos.signUp(), user: user, proof: .account(nil))
            #expect(session.state == .succeeded)
            #expect(try await worker.count("pending_enrolments") == 0)
            #expect(try await worker.count("audit_log WHERE action = 'recovery_cancelled' AND detail = 'face_replaced'") == 1)
        }
    }

    @Test func `a recovery by an e-mail that the account has no longer is refused`() async throws {
        try await withWorker { worker in
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            try await worker.postgres.execute(
                "UPDATE email_lookups SET lookup = substr(lookup, 1, 3) || sha256('new') WHERE user_id = \(user)")
            let session = try await worker.run(.signUp, try Photos.signUp(), user: user, proof: .recovery)
            #expect(session.state == .failed && session.reason == .alreadyEnrolled)
            #expect(try await worker.count("pending_enrolments") == 0)
        }
    }

    @Test func `a change of the e-mail waits for a recovery that is being written, and ends it`() async throws {
        try await withWorker { worker in
            let postgres = worker.postgres
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let id = try await worker.uploads.store(.signUp, try Photos.signUp(), user: user, proof: .recovery)
            let change = try await WriteGate.closed(postgres, before: .insert, on: "pending_enrolments") { gate in
                try await worker.request(id, .signUp)
                try await gate.isReached(by: 1)
                let change = Task { try await postgres.changeEmail(of: user) }
                try await gate.isReached(by: 2)
                return change
            }
            #expect(try await change.value)
            #expect(try await worker.outcome(id).state == .succeeded)
            #expect(try await worker.count("pending_enrolments") == 0)
        }
    }

    @Test func `a face that was uploaded before the first e-mail is not enrolled after it`() async throws {
        try await withWorker { worker in
            let postgres = worker.postgres
            let identities = FederatedIdentityRepository(postgres)
            let user = try await identities.findOrCreate(issuer: "issuer", subjectLookup: SHA256.hash("ada")).identity.userID
            let before = try await worker.uploads.store(.signUp, try Photos.signUp(), user: user, proof: .account(nil))
            #expect(try await postgres.changeEmail(of: user))
            let after = try await worker.uploads.store(.signUp, try Photos.signUp(), user: user, proof: .account(nil))
            try await worker.request(before, .signUp)
            #expect(try await worker.outcome(before).reason == .alreadyEnrolled)
            #expect(try await FaceTemplateRepository(postgres).find(userID: user) == nil)
            try await worker.request(after, .signUp)
            #expect(try await worker.outcome(after).state == .succeeded)
        }
    }

    @Test func `bad photos are refused for the same reason whether the e-mail has an account or not`() async throws {
        var photos = try Photos.signUp()
        photos[4] = .init(pose: photos[4].pose, file: try Photos.read("cases/two-people"))
        try await withWorker { worker in
            let known = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: known)
            for user in [known, UUID()] {
                let session = try await worker.run(.signUp, photos, user: user, proof: .none)
                #expect(session.state == .failed && session.reason == .multipleFaces)
                #expect(try await worker.pushedUser(of: session.id) != user)
                #expect(try await worker.count("email_verifications WHERE id = '\(session.id)'") == 0)
            }
            #expect(try await worker.count("users") == 1)
        }
    }

    @Test func `of two concurrent sign-ups with a proven e-mail, one creates the account`() async throws {
        try await withWorker { worker in
            let user = UUID()
            var ids: [UUID] = []
            for _ in 0..<2 { ids.append(try await worker.uploads.store(.signUp, try Photos.signUp(), user: user)) }
            for id in ids { try await worker.request(id, .signUp) }
            var reasons: [SessionReason?] = []
            for id in ids { reasons.append(try await worker.outcome(id).reason) }
            #expect(Set(reasons) == [nil, .alreadyEnrolled])
            #expect(try await worker.count("users") == 1)
            #expect(try await worker.count("face_photo_hashes") == 9)
        }
    }

    @Test func `with the account's bearer a face is replaced`() async throws {
        try await withWorker { worker in
            let faces = FaceTemplateRepository(worker.postgres)
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let first = try await faces.find(userID: user)
            let pair = try await AccessTokenRepository(worker.postgres).insert(
                NewAccessToken(
                    userID: user, sessionID: UUID(), accessHash: SHA256.hash("a"), refreshHash: SHA256.hash("r"),
                    installationKey: nil, lifetimes: SignInLifetimes(access: .seconds(60), idle: .seconds(600))))
            let session = try await worker.run(
                .signUp, try Photos.signUp(), user: user, proof: .account(pair.familyID))
            #expect(session.state == .succeeded)
            #expect(try await faces.find(userID: user) != first)
            #expect(try await worker.pushedUser(of: session.id) == user)
        }
    }

    @Test func `a face that is replaced ends the other sign-ins of the account, and the audit log says so`() async throws {
        try await withWorker { worker in
            let postgres = worker.postgres
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            var pairs: [AccessToken] = []
            for name in ["mine", "other"] {
                pairs.append(
                    try await AccessTokenRepository(postgres).insert(
                        NewAccessToken(
                            userID: user, sessionID: UUID(), accessHash: SHA256.hash("a\(name)"), refreshHash: SHA256.hash("r\(name)"),
                            installationKey: nil, lifetimes: SignInLifetimes())))
            }
            let session = try await worker.run(.signUp, try Photos.signUp(), user: user, proof: .account(pairs[0].familyID))
            #expect(session.state == .succeeded)
            #expect(try await SignInRepository(postgres).list(of: user).map(\.id) == [pairs[0].familyID])
            let alerts = try await postgres.query(
                "SELECT convert_from(body, 'UTF8') AS body FROM outbox WHERE convert_from(body, 'UTF8') LIKE '%face_changed%'")
            #expect(alerts.count == 1)
            let records = try await AuditRepository(postgres).find(.user(user), since: .distantPast, limit: 10)
            #expect(records.map(\.action) == ["face_enrolled", "sign_ins_ended", "face_replaced"])
            #expect(records.map(\.result) == ["succeeded", "succeeded", "succeeded"])
            #expect(records.last?.actorID == user.wireString)
        }
    }

    @Test func `a sign-up that fails ends no sign-in, and the audit log has its reason`() async throws {
        try await withWorker { worker in
            let postgres = worker.postgres
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let pair = try await AccessTokenRepository(postgres).insert(
                NewAccessToken(
                    userID: user, sessionID: UUID(), accessHash: SHA256.hash("a"), refreshHash: SHA256.hash("r"), installationKey: nil,
                    lifetimes: SignInLifetimes()))
            let photos = try Photos.signUp().map { _ in try Photos.signUp()[0] }
            let session = try await worker.run(.signUp, photos, user: user, proof: .account(pair.familyID))
            #expect(session.state == .failed)
            #expect(try await SignInRepository(postgres).list(of: user).map(\.id) == [pair.familyID])
            let records = try await AuditRepository(postgres).find(.user(user), since: .distantPast, limit: 10)
            #expect(records.last.map { [$0.action, $0.result, $0.detail] } == ["face_replaced", "failed", session.reason?.rawValue])
        }
    }

    @Test func `a sign-up with a bearer that was revoked in the meantime replaces no face`() async throws {
        try await withWorker { worker in
            let postgres = worker.postgres
            let user = UUID()
            _ = try await worker.run(.signUp, try Photos.signUp(), user: user)
            let face = try await FaceTemplateRepository(postgres).find(userID: user)
            let pair = try await AccessTokenRepository(postgres).insert(
                NewAccessToken(
                    userID: user, sessionID: UUID(), accessHash: SHA256.hash("a"), refreshHash: SHA256.hash("r"),
                    installationKey: nil, lifetimes: SignInLifetimes(access: .seconds(60), idle: .seconds(600))))
            let id = try await worker.uploads.store(.signUp, try Photos.signUp(), user: user, proof: .account(pair.familyID))
            let ended = try await postgres.withTransaction { try await SignInRepository($0).endAll(of: user) }
            #expect(ended.ids == [pair.familyID])
            try await worker.request(id, .signUp)
            let session = try await worker.outcome(id)
            #expect(session.state == .failed)
            #expect(session.reason == .alreadyEnrolled)
            #expect(session.retryable == false)
            #expect(try await FaceTemplateRepository(postgres).find(userID: user) == face)
            #expect(try await worker.pushedUser(of: id) == user, "the sender held the account's bearer")
        }
    }

    @Test func `a sign-up of a Firebase user enrols a face, unless the sign-ins were revoked in the meantime`() async throws {
        try await withWorker { worker in
            let postgres = worker.postgres
            let identities = FederatedIdentityRepository(postgres)
            let user = try await identities.findOrCreate(issuer: "issuer", subjectLookup: SHA256.hash("ada")).identity.userID
            let first = try await worker.run(.signUp, try Photos.signUp(), user: user, proof: .account(nil))
            #expect(first.state == .succeeded)
            let face = try await FaceTemplateRepository(postgres).find(userID: user)
            #expect(face != nil)
            #expect(try await worker.count("outbox WHERE position('face_changed' IN convert_from(body, 'UTF8')) > 0") == 1)
            let id = try await worker.uploads.store(.signUp, try Photos.signUp(), user: user, proof: .account(nil))
            #expect(try await identities.revokeAll(userID: user))
            try await worker.request(id, .signUp)
            #expect(try await worker.outcome(id).reason == .alreadyEnrolled)
            #expect(try await FaceTemplateRepository(postgres).find(userID: user) == face)
        }
    }
}

extension PostgresClient {
    /// Gives an account another e-mail as identity-api does, with the end of a recovery.
    fileprivate func changeEmail(of user: UUID) async throws -> Bool {
        try await withTransaction { transaction in
            try await SignInRepository(transaction).lock(of: user)
            let email = SealedEmail(lookup: SHA256.hash("new \(user)"), sealed: [1])
            let isChanged = try await UserRepository(transaction).setEmail(email, of: user)
            _ = try await PendingEnrolmentRepository(transaction).cancelRecovery(of: user)
            return isChanged
        }
    }
}
