import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

struct DeliveryRepositoryTests {
    /// A notification for `recipient` and one delivery of it to the installation `seed`.
    private func address(
        _ recipient: NotificationRecipient = .session(UUID()), to seed: Int = 1, on client: PostgresClient
    ) async throws -> (delivery: UUID, install: PushInstall) {
        let install = try await PushInstallRepository(client).registerUnbound(.make(seed))
        let notification = NewNotification.make(recipient: recipient)
        _ = try await NotificationRepository(client).insert(notification)
        let page = NewDeliveryPage.pages(of: notification.id, on: .urgent, to: [install.address])[0]
        try await DeliveryPageRepository(client).insert([page])
        return (page.deliveryIDs[0], install)
    }

    @Test(.storage) func `a user who has left a topic gets no waiting pushes`() async throws {
        let ada = try await client.user(1)
        try await client.execute("INSERT INTO topics (name, owner_id) VALUES ('event:7', \(ada))")
        try await client.execute("INSERT INTO topic_members (topic_id, user_id) SELECT id, \(ada) FROM topics")
        let (id, install) = try await address(.topic("event:7"), on: client)
        _ = try await PushInstallRepository(client).bind(install.id, userID: ada, seenAt: install.registeredAt)
        try await client.execute("UPDATE delivery_pages SET created_at = now() - interval '20 seconds'")
        #expect(try await deliveries.claim([id], lease: .zero).first?.suppression == nil)
        try await client.execute("DELETE FROM topic_members")
        let due = try #require(try await deliveries.claimDue(lane: .urgent, limit: 500, lease: .seconds(60)).first)
        #expect(due.id == id && due.suppression == .notAMember)
    }

    @Test(.storage) func `a withdrawn invitation is not pushed`() async throws {
        let (topics, users) = try await TestTopics.make()
        for user in users[0...1] { _ = try await topics.add(user, by: users[0]) }
        let (id, install) = try await address(.user(users[1]), on: client)
        _ = try await PushInstallRepository(client).bind(install.id, userID: users[1], seenAt: install.registeredAt)
        let content = PushContent.sample(.invitation).encoded()
        try await client.execute(
            "UPDATE notifications SET kind = 'invitation', content = \(content), topic_id = (SELECT id FROM topics)")
        #expect(try await deliveries.claim([id], lease: .zero).first?.target != nil)
        _ = try await topics.remove(users[1], by: users[0])
        let due = try #require(try await deliveries.claimDue(lane: .urgent, limit: 500, lease: .seconds(60)).first)
        #expect(due.id == id)
        #expect(due.target == nil)
        #expect(due.suppression == .notInvited)
    }

    @Test(
        .storage,
        arguments: [
            "UPDATE email_verifications SET verified_at = now()",
            "UPDATE email_verifications SET denied_at = now(), attempts_left = 0",
            "UPDATE email_verifications SET code_expires_at = now()",
            "UPDATE email_verifications SET account_id = gen_random_uuid()",
            "UPDATE sessions SET redeemed_at = now()",
            "UPDATE access_tokens SET device_key = NULL, device_key_storage = NULL",
            "UPDATE access_tokens SET revoked_at = now()",
        ])
    func `a sign-in that cannot be confirmed on a phone any more is not pushed to it`(end: String) async throws {
        let id = try await waitingSignIn()
        try await client.execute(PostgresQuery(unescaped: end))
        let due = try #require(try await deliveries.claimDue(lane: .urgent, limit: 500, lease: .seconds(60)).first)
        #expect(due.id == id && due.suppression == .notConfirmable)
    }

    @Test(.storage) func `a stranger who uses up the attempts of a sign-in does not keep back the push, which is for all that wait`()
        async throws
    {
        let id = try await waitingSignIn()
        try await client.execute("UPDATE email_verifications SET attempts_left = 0")
        let due = try #require(try await deliveries.claimDue(lane: .urgent, limit: 500, lease: .seconds(60)).first)
        #expect(due.id == id && due.suppression == nil)
    }

    /// Makes the delivery of a push about a sign-in that waits, and returns its id.
    private func waitingSignIn() async throws -> UUID {
        let (session, ada) = (UUID(), try await client.user(1))
        let (id, install) = try await address(.user(ada), on: client)
        _ = try await PushInstallRepository(client).bind(install.id, userID: ada, seenAt: install.registeredAt)
        try await client.insertWaitingSignIn(session, of: ada)
        let content = SignInConfirmationPush(sessionID: session, userID: ada).content.encoded()
        try await client.execute(
            "UPDATE notifications SET kind = 'sign_in_confirmation', content = \(content), session_id = \(session)")
        #expect(try await deliveries.claim([id], lease: .zero).first?.suppression == nil)
        return id
    }

    @Test(.storage) func `a claimed delivery is due when the lease ends, a settled one never`() async throws {
        let id = try await address(on: client).delivery
        let begin = ContinuousClock.now
        _ = try await deliveries.claim([id], lease: .seconds(60))
        let wait = try #require(try await deliveries.timeUntilDue(lanes: [.urgent]))
        #expect(wait > .seconds(59) - (.now - begin) && wait <= .seconds(60))
        try await deliveries.settle([DeliverySettlement(id: id, outcome: .accepted)])
        #expect(try await deliveries.timeUntilDue(lanes: [.urgent]) == nil)
    }

    @Test(.storage) func `a claimed delivery is neither withdrawn nor superseded nor expired`() async throws {
        let (id, install) = try await address(on: client)
        _ = try await deliveries.claim([id], lease: .seconds(60))
        let notificationID = try #require(try await deliveries.find(ids: [id]).first).notificationID
        try await client.execute("DELETE FROM push_installs")
        #expect(try await deliveries.withdraw(installIDs: [install.id], code: .userErased).isEmpty)
        #expect(try await deliveries.withdraw(notificationIDs: [notificationID], code: .userErased) == 0)
        #expect(try await deliveries.expireOpen(notificationIDs: [notificationID], code: .neverSent) == 0)
        try await client.execute("UPDATE delivery_pages SET due_at = now() - interval '1 second'")
        #expect(try await deliveries.expireOpen(notificationIDs: [notificationID], code: .neverSent) == 1)
    }

    @Test(.storage) func `the first settlement is final, even against a later claim`() async throws {
        let id = try await address(on: client).delivery
        _ = try await deliveries.claim([id], lease: .seconds(60))
        let outcomes = DeliveryOutcome.allCases
        let ended = try await race(outcomes.count) { index in
            try await deliveries.settle([
                DeliverySettlement(id: id, outcome: outcomes[index], fcmName: "n", code: outcomes[index].rawValue)
            ]).count
        }
        #expect(ended.reduce(0, +) == 1)
        let delivery = try #require(try await deliveries.find(ids: [id]).first)
        #expect(delivery.state.isTerminal)
        #expect(delivery.settledAt != nil)
        #expect(delivery.dueAt == nil)
        if delivery.state == .accepted {
            #expect(delivery.fcmName == "n")
        } else {
            #expect(delivery.code == delivery.state.rawValue)
        }
        #expect(try await deliveries.claim([id], lease: .seconds(60)).isEmpty)
        #expect(try await deliveries.claimDue(lane: .urgent, limit: 1, lease: .seconds(60)).isEmpty)
    }

    @Test(.storage) func `a deferred delivery becomes due after its delay`() async throws {
        let id = try await address(on: client).delivery
        _ = try await deliveries.claim([id], lease: .seconds(60))
        let begin = ContinuousClock.now
        let deferral = DeliveryDeferral(id: id, attempt: 1, delay: .seconds(30), code: "UNAVAILABLE")
        #expect(try await deliveries.deferDeliveries([deferral]) == [id])
        #expect(try await deliveries.claim([id], lease: .seconds(60)).isEmpty)
        #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).isEmpty)
        let wait = try #require(try await deliveries.timeUntilDue(lanes: Lane.allCases))
        #expect(wait > .seconds(29) - (.now - begin) && wait <= .seconds(30))
        #expect(try await deliveries.find(ids: [id]).first?.code == "UNAVAILABLE")
        try await client.execute("UPDATE deliveries SET due_at = now()")
        #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).map(\.attempt) == [2])
    }

    @Test(.storage) func `deferring an unsent delivery does not count an attempt`() async throws {
        let id = try await address(on: client).delivery
        _ = try await deliveries.claim([id], lease: .seconds(60))
        try await deliveries.deferDeliveries([
            DeliveryDeferral(id: id, attempt: 1, delay: .zero, code: "lane_paused", countsAsAttempt: false)
        ])
        #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).map(\.attempt) == [1])
    }

    @Test(.storage) func `mayHaveArrived is kept until the delivery is settled, and is not set by a refusal`() async throws {
        let (refused, lost) = (try await address(on: client).delivery, try await address(to: 2, on: client).delivery)
        #expect(try await deliveries.claim([refused, lost], lease: .seconds(60)).allSatisfy { !$0.mayHaveArrived })
        for attempt in 1...2 {
            // The first attempt may have arrived; the second is definitely refused.
            let deferrals = [refused, lost].map {
                DeliveryDeferral(
                    id: $0, attempt: attempt, delay: .zero, code: "any", mayHaveArrived: $0 == lost && attempt == 1)
            }
            try await deliveries.deferDeliveries(deferrals)
            let due = try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60))
            #expect(due.count == 2 && due.allSatisfy { $0.mayHaveArrived == ($0.id == lost) })
        }
    }

    @Test(.storage) func `the deliveries of a crashed sender may have reached the phone`() async throws {
        let id = try await address(on: client).delivery
        _ = try await deliveries.claim([id], lease: .zero)
        let second = try #require(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .seconds(60)).first)
        #expect(second.mayHaveArrived && second.attempt == 2)
        let put = DeliveryDeferral(id: id, attempt: 2, delay: .zero, code: "lane_paused", countsAsAttempt: false)
        try await deliveries.deferDeliveries([put])
        // The second sender crashes too, with the deliveries at their second attempt.
        #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .zero).count == 1)
        #expect(try await deliveries.claimDue(lane: .urgent, limit: 10, lease: .zero).first?.mayHaveArrived == true)
    }

    @Test(.storage) func `deliveries that were never attempted are not due, and one of many senders claims due ones`() async throws {
        _ = try await address(to: 1, on: client)
        var tried: Set<UUID> = []
        for seed in 2..<22 { tried.insert(try await address(to: seed, on: client).delivery) }
        _ = try await deliveries.claim(Array(tried), lease: .zero)
        let claims = try await race(12) { _ in
            try await deliveries.claimDue(lane: .urgent, limit: 4, lease: .seconds(60)).map(\.id)
        }.flatMap { $0 }
        #expect(claims.count == Set(claims).count && tried.isSuperset(of: claims))
        var rest: [UUID] = []
        while case let more = try await deliveries.claimDue(lane: .urgent, limit: 100, lease: .seconds(60)), !more.isEmpty {
            rest += more.map(\.id)
        }
        #expect(Set(claims + rest) == tried && claims.count + rest.count == tried.count)
    }

    @Test(.storage) func `a push for a user has no target once the installation belongs to another user, but a push for a session has`()
        async throws
    {
        let first = try await client.user(1)
        let second = try await client.user(2)
        _ = try await client.register(.make(1), first)
        let forUser = try await address(.user(first), on: client).delivery
        let forSession = try await address(.session(UUID()), on: client).delivery
        _ = try await client.register(.make(1), second)
        let claimed = try await deliveries.claim([forUser, forSession], lease: .seconds(60))
        #expect(claimed.count == 2)
        #expect(claimed.first { $0.id == forUser }?.target == nil)
        #expect(claimed.first { $0.id == forSession }?.target != nil)
        let generation = claimed.first { $0.id == forSession }?.generation
        #expect(generation == 2, "the generation that an answer about a dead token is compared with")
        let end = DeliverySettlement(id: forSession, outcome: .dead, attempt: 1, generation: generation)
        try await deliveries.settle([end])
        #expect(try await deliveries.find(ids: [forSession]).map(\.generation) == [2])
    }

    @Test(.storage) func `a dead or deleted installation is no target`() async throws {
        let (dead, install) = try await address(to: 1, on: client)
        let (gone, _) = try await address(to: 2, on: client)
        try await installs.markDead([DeadInstall(id: install.id, generation: 1, code: "UNREGISTERED")])
        try await client.execute("DELETE FROM push_installs WHERE installation_key = \(hash(2))")
        let claimed = try await deliveries.claim([dead, gone], lease: .seconds(60))
        #expect(claimed.map(\.target) == [nil, nil])
    }
}

extension PostgresClient {
    /// Inserts a sign-in that waits for its mailed code, to an account with one installation, which is signed in with a device key.
    fileprivate func insertWaitingSignIn(_ session: UUID, of userID: UUID) async throws {
        try await execute(
            """
            INSERT INTO sessions (id, user_id, event, attempt_key, token_hash, state, completed_at)
            VALUES (\(session), \(userID), 'sign_in', \(userID), sha256('t'), 'succeeded', now())
            """)
        try await execute(
            """
            INSERT INTO email_verifications (id, purpose, account_id, email_lookups, email_sealed, reference, asked_at, code_number,
                                             attempts_left, code_mail_id, mailed_at, code_expires_at)
            VALUES (\(session), 'sign_in', \(userID), ARRAY[sha256('l')], sha256('e'), 'BCDF', NULL, 1, 5, gen_random_uuid(), now(),
                    now() + interval '10 minutes')
            """)
        try await execute(
            """
            INSERT INTO access_tokens (id, user_id, session_id, family_id, access_hash, refresh_hash, installation_key, device_key,
                                       device_key_storage, expires_at, refresh_expires_at)
            SELECT gen_random_uuid(), user_id, gen_random_uuid(), gen_random_uuid(), sha256('a'), sha256('r'), installation_key,
                   sha256('k'), 'hardware', now() + interval '1 hour', now() + interval '1 day' FROM push_installs
            """)
    }
}
