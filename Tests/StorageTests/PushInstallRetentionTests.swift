import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

struct PushInstallRetentionTests {
    @Test func `an installation of nobody is deleted, unless somebody still needs it`() async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make().id
            let installs = PushInstallRepository(client)
            let sessions = SessionRepository(client)
            for seed in 1...4 { _ = try await installs.upsertSeen(.make(seed)) }
            #expect(try await installs.bind(installationKey: hash(2), userID: user) != nil)

            let notification = NewNotification.make()
            _ = try await NotificationRepository(client).insert(notification)
            let addressed = try await installs.find(installationKeys: [hash(3)])[0]
            _ = try await DeliveryRepository(client).insertPending([
                NewDelivery(
                    id: UUID(), notificationID: notification.id, installID: addressed.id, generation: 1)
            ])

            var session = NewSession.make(.signIn)
            session.installationKey = hash(4)
            try await sessions.insert(session)
            #expect(try await sessions.complete(id: session.id, outcome: .succeeded))

            let keys = (1...5).map(hash)
            let deleted = try await client.withTransaction { transaction in
                try await PushInstallRepository(transaction).deleteUnneeded(installationKeys: keys)
            }
            #expect(deleted == 1)
            let left = try await installs.find(installationKeys: keys).map(\.installationKey)
            #expect(Set(left) == [hash(2), hash(3), hash(4)])
        }
    }

    @Test func `what nobody will miss goes, in batches`() async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make().id
            let installs = PushInstallRepository(client)
            for seed in 1...6 { _ = try await installs.upsertSeen(.make(seed)) }
            for seed in 3...6 { _ = try await installs.bind(installationKey: hash(seed), userID: user) }
            func age(_ seed: Int, _ change: String) async throws {
                try await client.execute(
                    "UPDATE push_installs SET \(unescaped: change) WHERE installation_key = \(hash(seed))")
            }
            try await age(1, "last_seen_at = now() - interval '25 hours'")
            try await age(3, "last_seen_at = now() - interval '271 days'")
            try await age(4, "state = 'invalid', invalid_at = now() - interval '31 days'")
            try await age(5, "last_seen_at = now() - interval '25 hours'")
            #expect(try await installs.deleteIdle(limit: 2) == 2)
            #expect(try await installs.deleteIdle(limit: 2) == 1)
            let left = try await installs.find(installationKeys: (1...6).map(hash)).map(\.installationKey)
            #expect(Set(left) == [hash(2), hash(5), hash(6)])
        }
    }
}
