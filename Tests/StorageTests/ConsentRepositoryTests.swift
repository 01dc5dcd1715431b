import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

@testable import Accounts

@Suite struct ConsentRepositoryTests {
    private static let text = ConsentedText(version: "2026-11", hash: hash(1))
    private static let time = Date(timeIntervalSince1970: 1_795_000_000)

    @Test(.storage) func `the newest consent of a user is found`() async throws {
        let user = try await client.user()
        let consents = ConsentRepository(client)
        #expect(try await consents.latest(of: user) == nil)
        let newer = Consent(text: ConsentedText(version: "2026-12", hash: hash(2)), givenAt: Self.time + 1)
        try await consents.record(newer, of: user, session: UUID())
        try await consents.record(Consent(text: Self.text, givenAt: Self.time), of: user, session: UUID())
        #expect(try await consents.latest(of: user) == newer)
    }

    @Test(.storage) func `the consent of a session is stored once, and never changed`() async throws {
        let (user, session) = (try await client.user(), UUID())
        let consents = ConsentRepository(client)
        let first = Consent(text: Self.text, givenAt: Self.time)
        try await consents.record(first, of: user, session: session)
        try await consents.record(Consent(text: Self.text, givenAt: Self.time + 9), of: user, session: session)
        #expect(try await consents.latest(of: user) == first)
        let error = await #expect(throws: PostgresError.self) {
            try await client.execute("UPDATE consents SET version = 'other'")
        }
        #expect(error?.code == .sqlState("42501"))
    }

    @Test(.storage) func `the consents of a user are deleted with the account`() async throws {
        let user = try await client.user()
        try await ConsentRepository(client).record(Consent(text: Self.text, givenAt: Self.time), of: user, session: UUID())
        try await client.execute("DELETE FROM users WHERE id = \(user)")
        #expect(try await client.query("SELECT FROM consents").isEmpty)
    }

    @Test(.storage) func `a recovery stores the consent that its newest photos came with`() async throws {
        let user = try await client.user()
        let face = NewFaceTemplate(userID: user, modelID: "m", pipelineVersion: 1, templateSealed: [1])
        let newer = Consent(text: ConsentedText(version: "2026-12", hash: hash(2)), givenAt: Self.time + 1)
        try await client.startRecovery(with: face, consent: Consent(text: Self.text, givenAt: Self.time))
        try await client.startRecovery(with: face, consent: newer)
        #expect(try await ConsentRepository(client).latest(of: user) == nil)
        try await client.execute("UPDATE pending_enrolments SET due_at = now()")
        let replaced = try await client.withTransaction { try await PendingEnrolmentRepository($0).completeRecoveries(limit: 10) }
        #expect(replaced.completed == [user])
        #expect(try await ConsentRepository(client).latest(of: user) == newer)
        #expect(try await client.query("SELECT FROM consents").count == 1)
    }
}
