import Accounts
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import Topics
import WireFormat

struct ReceiptRepositoryTests {
    @Test(.storage) func `a push is a user's if it was sent to a device of the user, or was for the user or a session of the user`()
        async throws
    {
        let pushes = try await TestPushes.make()
        var session = NewSession.make(.signIn)
        session.userID = pushes.ada
        try await SessionRepository(pushes.client).insert(session)
        let ids = [
            try await pushes.push(.user(pushes.ada)), try await pushes.push(.session(session.id)),
            try await pushes.push(.topic("event:e-1"), to: pushes.adasPhone),
        ]
        for id in ids {
            #expect(try await pushes.tell([.notification(id)], .opened, by: pushes.ben, on: 2) == 0)
            #expect(try await pushes.tell([.notification(id)], .opened, by: pushes.ada, on: 1) == 1)
            #expect(try await pushes.tell([.notification(id)], .opened, by: pushes.ada, on: 1) == 0)
        }
    }

    @Test(.storage) func `each device of a user reports for itself, and an unknown one for the user`() async throws {
        let pushes = try await TestPushes.make()
        let tablet = try await client.register(.make(3), pushes.ada).install.id
        let id = try await pushes.push(.user(pushes.ada), to: pushes.adasPhone)
        try await pushes.deliver(id, to: tablet)
        #expect(try await pushes.tell([.notification(id)], .delivered, by: pushes.ada, on: 1) == 1)
        #expect(try await pushes.tell([.notification(id)], .delivered, by: pushes.ada, on: 3) == 1)
        #expect(try await pushes.tell([.notification(id)], .delivered, by: pushes.ada, on: nil) == 1)
        let reporters = try await pushes.client.query("SELECT reporter_id FROM notification_receipts")
            .map { try $0.decode("reporter_id", as: UUID.self) }
        #expect(Set(reporters) == [pushes.adasPhone, tablet, pushes.ada])
    }

    @Test(.storage) func `pushes are found by message, job, session and event`() async throws {
        let pushes = try await TestPushes.make()
        let (job, session) = (UUID(), UUID())
        _ = try await pushes.push(.user(pushes.ada), key: "job:\(job.wireString)")
        _ = try await pushes.push(.user(pushes.ada), key: "ekyc:\(session.wireString)")
        _ = try await pushes.push(.topic("event:party"), to: pushes.adasPhone, kind: .newPhotos)
        let topics = TestTopics(client: pushes.client)
        _ = try await topics.add(pushes.ada, to: .chat, by: pushes.ada)
        let told = NewConversationMessage(
            conversation: .chat, messageID: "m-1", senderID: pushes.ada,
            notificationID: try await pushes.push(.user(pushes.ada)), fingerprints: [hash(1)])
        _ = try await pushes.client.withTransaction { try await ConversationRepository($0).post(told) }
        let subjects: [Receipt.Subject] = [.imageJob(job), .session(session), .event(.party), .message("m-1"), .message("m-2")]
        #expect(try await pushes.tell(subjects, .delivered, by: pushes.ben, on: 2) == 0)
        #expect(try await pushes.tell(subjects, .delivered, by: pushes.ada, on: 1) == 4)
    }

    @Test(.storage) func `a receipt of an event goes to the newest push before it, or to the newest of all`() async throws {
        let pushes = try await TestPushes.make()
        let (first, second) = (
            try await pushes.push(.topic("event:party"), to: pushes.adasPhone, kind: .newPhotos),
            try await pushes.push(.topic("event:party"), to: pushes.adasPhone, kind: .newPhotos)
        )
        for (id, minutes) in [(first, 20.0), (second, 10.0)] {
            try await pushes.client.execute(
                "UPDATE notifications SET created_at = now() - make_interval(mins => \(Int32(minutes))) WHERE id = \(id)")
        }
        func tell(_ minutesAgo: [Double]) async throws -> [UUID] {
            let receipts = minutesAgo.map {
                Receipt(subject: .event(.party), event: .delivered, at: Date(timeIntervalSinceNow: -60 * $0))
            }
            _ = try await ReceiptRepository(pushes.client).record(receipts, userID: pushes.ada, installationKey: nil)
            return try await pushes.client.query("SELECT notification_id FROM notification_receipts ORDER BY notification_id").map {
                try $0.decode("notification_id", as: UUID.self)
            }
        }
        #expect(try await tell([60]) == [second])
        #expect(try await tell([15, 5]) == [first, second])
    }

    @Test(.storage) func `a receipt's time is limited to between the push and now`() async throws {
        let pushes = try await TestPushes.make()
        for seconds in [-1e9, 1e9] {
            let id = try await pushes.push(.user(pushes.ada))
            let receipt = Receipt(subject: .notification(id), event: .opened, at: Date(timeIntervalSinceNow: seconds))
            let counted = try await ReceiptRepository(pushes.client).record([receipt], userID: pushes.ada, installationKey: nil)
            #expect(counted.map(\.kind) == [.newPhotos] && counted.map(\.event) == [.opened])
        }
        let rows = try await pushes.client.query(
            """
            SELECT n.id FROM notification_receipts r JOIN notifications n ON n.id = r.notification_id
            WHERE r.at < n.created_at OR r.at > now()
            """)
        #expect(rows.isEmpty)
    }

    @Test(.storage) func `figures separate pushes with pictures from plain ones, and suppressed from unsent ones`() async throws {
        let pushes = try await TestPushes.make()
        let rich = try await pushes.push(.user(pushes.ada), to: pushes.adasPhone, picture: true, state: "accepted")
        _ = try await pushes.push(.user(pushes.ada), to: pushes.adasPhone, state: "accepted")
        _ = try await pushes.push(.user(pushes.ada), to: pushes.adasPhone, state: "dead")
        _ = try await pushes.push(.user(pushes.ada), to: pushes.adasPhone, state: "skipped", code: "presence")
        _ = try await pushes.push(.user(pushes.ada), to: pushes.adasPhone, state: "expired")
        #expect(try await pushes.tell([.notification(rich)], .delivered, by: pushes.ada, on: 1) == 1)
        #expect(try await pushes.tell([.notification(rich)], .opened, by: pushes.ada, on: 1) == 1)
        let figures = try await ReceiptRepository(pushes.client).figures(since: Date(timeIntervalSinceNow: -600))
        var plainFigures = PushFigures(kind: .newPhotos, hasPicture: false)
        (plainFigures.accepted, plainFigures.dead, plainFigures.unsent, plainFigures.suppressed) = (1, 1, 1, 1)
        var richFigures = PushFigures(kind: .newPhotos, hasPicture: true)
        (richFigures.accepted, richFigures.delivered, richFigures.opened) = (1, 1, 1)
        #expect(figures == [plainFigures, richFigures])
        #expect(try await ReceiptRepository(pushes.client).figures(since: Date(timeIntervalSinceNow: 600)).isEmpty)
    }

    @Test(.storage) func `the trigger of the first fetch counts, and all are deleted after their lifetime`() async throws {
        let pushes = try await TestPushes.make()
        let (receipts, job) = (ReceiptRepository(pushes.client), UUID())
        #expect(try await receipts.recordRead(jobID: job, trigger: "poll"))
        #expect(try await receipts.recordRead(jobID: job, trigger: "push"))
        #expect(try await !receipts.recordRead(jobID: job, trigger: "push"))
        #expect(try await receipts.recordRead(jobID: UUID(), trigger: "push"))
        #expect(try await receipts.firstReads(since: Date(timeIntervalSinceNow: -600)) == ["poll": 1, "push": 1])
        try await pushes.client.execute("UPDATE image_job_reads SET at = now() - interval '31 days' WHERE job_id = \(job)")
        #expect(try await receipts.deleteExpiredReads(limit: 10) == 2)
    }
}

/// Pushes for Ada and Ben, who have one phone each.
struct TestPushes: Sendable {
    let client: PostgresClient
    let ada: UUID
    let ben: UUID
    let adasPhone: UUID

    static func make() async throws -> TestPushes {
        let (topics, users) = try await TestTopics.make()
        let phone = try await topics.client.register(.make(1), users[0]).install.id
        _ = try await topics.client.register(.make(2), users[1])
        return TestPushes(client: topics.client, ada: users[0], ben: users[1], adasPhone: phone)
    }

    func push(
        _ recipient: NotificationRecipient, to install: UUID? = nil, key: String = UUID().uuidString,
        kind: NotificationKind = .newPhotos, picture: Bool = false, state: String = "pending", code: String? = nil
    ) async throws -> UUID {
        let new = NewNotification(
            id: UUIDv7.generate(), dedupeKey: key, content: .sample(kind, thumbnailKey: picture ? "k.jpg" : nil), recipient: recipient,
            lane: .normal, expiresAt: Date(timeIntervalSinceNow: 3_600))
        #expect(try await NotificationRepository(client).insert(new))
        if let install { try await deliver(new.id, to: install, state: state, code: code) }
        return new.id
    }

    func deliver(_ id: UUID, to install: UUID, state: String = "pending", code: String? = nil) async throws {
        try await client.execute(
            """
            INSERT INTO deliveries (id, notification_id, install_id, generation, lane, state, code, settled_at, due_at)
            VALUES (gen_random_uuid(), \(id), \(install), 1, 'normal', \(state), \(code),
                    CASE WHEN \(state)::text <> 'pending' THEN now() END, CASE WHEN \(state)::text = 'pending' THEN now() END)
            """)
    }

    /// Records receipts of a device, and returns the number of new ones.
    func tell(_ subjects: [Receipt.Subject], _ event: Receipt.Event, by user: UUID, on device: Int?) async throws -> Int {
        try await ReceiptRepository(client).record(
            subjects.map { Receipt(subject: $0, event: event, at: Date()) }, userID: user, installationKey: device.map(hash)
        ).count
    }
}
