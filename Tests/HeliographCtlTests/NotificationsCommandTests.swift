import Foundation
import HeliographCrypto
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import HeliographCtl

struct NotificationsCommandTests {
    private func schedule(_ kind: String, of app: String, in seconds: Double, _ client: PostgresClient) async throws -> UUID {
        let due = Date(timeIntervalSinceNow: seconds)
        let new = NewAppNotification(
            id: UUID(), app: app, credentialID: UUID(), kind: kind, dedupeKey: nil, fingerprint: SHA256.hash(kind), userIDs: [],
            scheduledRequest: [1], requestID: nil, traceparent: nil, notBefore: due, expiresAt: due.addingTimeInterval(60))
        return try #require(try await AppNotificationRepository(client).insert(new, topicMembers: 3)).id
    }

    @Test func `scheduled notifications are listed, the next one first, and one is cancelled`() async throws {
        try await withMigratedDatabase { database async throws in
            try await withClient(of: database) { client async throws in
                func run(_ arguments: String...) async -> CommandResult {
                    await heliographctl(["notifications"] + arguments + ["--database-url", database.url])
                }
                #expect(await run("scheduled").results == ["No notification is scheduled."])
                let late = try await schedule("sale", of: "shop", in: 7_300, client)
                let soon = try await schedule("code", of: "bank", in: 700, client)
                let list = await run("scheduled").results
                try #require(list.count == 3)
                #expect(list[1].hasPrefix("\(soon.wireString)  bank  code           3  ") && list[1].contains("  11m "))
                #expect(list[2].hasPrefix("\(late.wireString)  shop  sale           3  "))
                #expect(await run("scheduled", "--app", "shop").results.count == 2)
                let first = await run("scheduled", "--limit", "1")
                #expect(first.results.count == 2 && first.notes == ["1 are shown, and there are more: --limit 10 shows more."])
                #expect(await run("cancel", soon.wireString, "--operator", "grace").results == ["cancelled \(soon.wireString)"])
                #expect(await run("cancel", soon.wireString).exitCode == 1)
                #expect(await run("scheduled").results.count == 2)
                let audit = try await database.psql("SELECT actor_id, action, object_id FROM audit_log")
                #expect(audit == "grace|notification_cancelled|\(soon.wireString)")
            }
        }
    }
}
