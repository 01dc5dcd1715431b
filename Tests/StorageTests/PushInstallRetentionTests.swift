import Accounts
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

struct PushInstallRetentionTests {
    @Test(.storage) func `an installation without a user is deleted unless it is still needed`() async throws {
        let user = try await client.user()
        var ids: [UUID] = []
        for seed in 1...4 { ids.append(try await installs.registerUnbound(.make(seed)).id) }
        #expect(try await installs.bind(ids[1], userID: user, seenAt: Date()) != nil)

        let notification = NewNotification.make()
        _ = try await NotificationRepository(client).insert(notification)
        let page = NewDeliveryPage.make(notification.id, installs: [ids[2]])
        try await DeliveryPageRepository(client).insert([page])
        _ = try await deliveries.claim(page: page.id, lease: .seconds(60))
        try await deliveries.deferDeliveries([
            DeliveryDeferral(id: page.deliveryIDs[0], attempt: 1, delay: .seconds(9), code: "UNAVAILABLE")
        ])

        var session = NewSession.make(.signIn)
        session.installID = ids[3]
        try await sessions.insert(session)

        let candidates = ids + [UUID()]
        let deleted = try await client.withTransaction { transaction in
            try await PushInstallRepository(transaction).deleteUnneeded(ids: candidates)
        }
        #expect(deleted == 1)
        #expect(Set(try await installs.find(ids: ids).map(\.id)) == Set(ids[1...3]))
    }

    @Test(.storage) func `an installation that an upload is about to use is not deleted`() async throws {
        let row = try await installs.registerUnbound(.make(1))
        try await client.withTransaction { upload in
            let used = try await PushInstallRepository(upload).registerUnbound(.make(1))
            #expect(used == row)
            var refusal: (any Error)?
            do {
                try await client.withTransaction { transaction in
                    try await transaction.execute("SET LOCAL lock_timeout = '50ms'")
                    _ = try await PushInstallRepository(transaction).deleteUnneeded(ids: [row.id])
                }
            } catch { refusal = error }
            #expect((refusal as? PostgresError)?.sqlState == "55P03")
        }
    }

    @Test(.storage) func `the daily expiry deletes and marks installations, in steps and once a day`() async throws {
        let user = try await client.user()
        for seed in 1...2 { _ = try await installs.registerUnbound(.make(seed)) }
        for seed in 3...8 { _ = try await client.register(.make(seed), user) }
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
        var total = (deleted: 0, stale: 0)
        for slice in 0..<7 {
            let expired = try await installs.expireInstallations(slice: slice, of: 7)
            total = (total.deleted + expired.deleted, total.stale + expired.stale)
        }
        #expect(total == (3, 1))
        let left = try await client.installs((1...8).map(hash))
        #expect(Set(left.map(\.installationKey)) == [hash(2), hash(5), hash(6), hash(7), hash(8)])
        #expect(left.filter { $0.state == .stale }.map(\.installationKey) == [hash(6)])
        _ = try await installs.registerUnbound(.make(6))
        #expect(try await client.installs([hash(6)]).first?.state == .active, "seen again")
    }
}
