import FoundationEssentials
import PostgresClient
import Storage
import TestSupport
import Testing
import WireFormat

struct PushInstallRetentionTests {
    @Test func `an installation without a user is deleted unless it is still needed`() async throws {
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

    @Test func `the daily expiry deletes and marks installations, in steps and once a day`() async throws {
        try await withStorage { client in
            let user = try await UserRepository(client).make().id
            let installs = PushInstallRepository(client)
            for seed in 1...8 { _ = try await installs.upsertSeen(.make(seed)) }
            for seed in 3...8 { _ = try await installs.bind(installationKey: hash(seed), userID: user) }
            func age(_ seed: Int, _ change: String) async throws {
                try await client.execute(
                    "UPDATE push_installs SET \(unescaped: change) WHERE installation_key = \(hash(seed))")
            }
            try await age(1, "last_seen_at = now() - interval '25 hours'")
            try await age(3, "last_seen_at = now() - interval '271 days'")
            try await age(4, "state = 'invalid', invalid_at = now() - interval '31 days'")
            try await age(5, "last_seen_at = now() - interval '25 hours'")
            try await age(6, "last_seen_at = now() - interval '36 days'")
            try await age(7, "last_seen_at = now() - interval '34 days'")
            func expire() async throws -> PushInstallExpiryStep? {
                try await client.withTransaction { try await PushInstallRepository($0).expireInstallations(limit: 3) }
            }
            var total = PushInstallExpiryStep()
            while let step = try await expire() {
                total.visited += step.visited
                total.stale += step.stale
                total.deleted += step.deleted
            }
            #expect(total == PushInstallExpiryStep(visited: 8, stale: 1, deleted: 3))
            let left = try await installs.find(installationKeys: (1...8).map(hash))
            #expect(Set(left.map(\.installationKey)) == [hash(2), hash(5), hash(6), hash(7), hash(8)])
            #expect(left.filter { $0.state == .stale }.map(\.installationKey) == [hash(6)])
            _ = try await installs.upsertSeen(.make(6))
            #expect(try await installs.find(installationKeys: [hash(6)]).first?.state == .active, "seen again")
            #expect(try await expire() == nil, "not before tomorrow")
            try await client.execute("UPDATE push_walk SET started_at = now() - interval '25 hours'")
            #expect(try await expire()?.visited == 3)
        }
    }
}
