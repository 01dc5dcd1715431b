import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport
import Testing

struct AuditRepositoryTests {
    private var audit: AuditRepository { AuditRepository(client) }

    private func all() async throws -> [AuditRecord] { try await audit.find(.all, since: .distantPast, limit: 100) }

    private func partitions() async throws -> [String] {
        try await client.query(
            "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'audit_log'::regclass ORDER BY 1"
        ).column("name")
    }

    /// Inserts a row of another time, as an insert in a month without a partition does.
    private func insert(ago months: Int) async throws {
        try await client.execute(
            """
            INSERT INTO audit_log (at, actor_kind, action, result)
            VALUES (now() - make_interval(months => \(Int32(months))), 'anonymous', 'signed_in', 'failed')
            """)
    }

    @Test(.storage) func `an entry is written as it was described`() async throws {
        let (user, session) = (UUID(), UUID())
        try await audit.append(
            AuditEntry(
                .faceCompared, .failed, by: .system("face-matching-worker"), on: user, object: session, requestID: "r1",
                detail: "no_match", addressKey: hash(1)))
        let record = try #require(try await all().first)
        #expect(record.action == "face_compared")
        #expect(record.result == "failed")
        #expect(record.actorKind == "system")
        #expect(record.actorID == "face-matching-worker")
        #expect(record.subjectID == user)
        #expect(record.objectID == session)
        #expect(record.requestID == "r1")
        #expect(record.detail == "no_match")
        #expect(record.addressKey == hash(1))
    }

    @Test(.storage) func `every action can be stored, by every actor`() async throws {
        let actors: [AuditActor] = [.user(UUID()), .service(""), .operator(String(repeating: "x", count: 99)), .system("x"), .anonymous]
        try await client.withTransaction { transaction in
            for action in AuditAction.allCases {
                for actor in actors { try await AuditRepository(transaction).append(AuditEntry(action, by: actor, on: nil)) }
            }
        }
        #expect(try await client.query("SELECT count(*) AS n FROM audit_log")[0].decode("n") == AuditAction.allCases.count * actors.count)
    }

    @Test(.storage) func `an entry is written with the transaction of its action, or not at all`() async throws {
        struct Failed: Error {}
        await #expect(throws: Failed.self) {
            try await client.withTransaction { transaction in
                try await AuditRepository(transaction).append(AuditEntry(.signedIn, by: .anonymous, on: nil))
                throw Failed()
            }
        }
        #expect(try await all().isEmpty)
    }

    @Test(.storage) func `the rows of a user, and of a request, are found in their order, the newest ones first in a limit`() async throws {
        let user = UUID()
        for (index, action) in [AuditAction.signedIn, .profileChanged, .signedOut].enumerated() {
            try await audit.append(AuditEntry(action, by: .user(user), on: user, requestID: "r\(index % 2)"))
        }
        try await audit.append(AuditEntry(.signedIn, by: .anonymous, on: UUID(), requestID: "r0"))
        #expect(try await audit.find(.user(user), since: .distantPast, limit: 2).map(\.action) == ["profile_changed", "signed_out"])
        #expect(
            try await audit.find(.request("r0"), since: .distantPast, limit: 9).map(\.action) == ["signed_in", "signed_out", "signed_in"])
        #expect(try await audit.find(.all, since: Date().addingTimeInterval(60), limit: 9).isEmpty)
    }

    @Test(
        .storage,
        arguments: [
            "UPDATE audit_log SET action = 'x'", "DELETE FROM audit_log", "TRUNCATE audit_log", "TRUNCATE audit_log_default",
            "UPDATE audit_log_default SET action = 'x'", "DELETE FROM audit_log_default",
        ])
    func `no row can be changed or deleted`(_ statement: String) async throws {
        try await insert(ago: 0)
        try await insert(ago: 30)
        let before = try await all()
        let error = await #expect(throws: PostgresError.self) { try await client.execute("\(unescaped: statement)") }
        #expect(error?.sqlState == "42501")
        #expect(try await all() == before)
    }

    @Test(.storage) func `the partition of a month cannot be emptied`() async throws {
        try await insert(ago: 0)
        for partition in try await partitions() where partition != "audit_log_default" {
            let error = await #expect(throws: PostgresError.self) { try await client.execute("TRUNCATE \(unescaped: partition)") }
            #expect(error?.sqlState == "42501")
        }
        #expect(try await all().count == 1)
    }

    @Test(.storage) func `an entry of a month without a partition is kept in the default one`() async throws {
        for partition in try await partitions() where partition != "audit_log_default" {
            try await client.execute("DROP TABLE \(unescaped: partition)")
        }
        try await audit.append(AuditEntry(.signedIn, by: .anonymous, on: nil))
        #expect(try await client.query("SELECT count(*) AS n FROM audit_log_default")[0].decode("n") == 1)
        #expect(try await audit.maintainPartitions() == 2, "this month has rows in the default partition, and stays there")
        try await audit.append(AuditEntry(.signedOut, by: .anonymous, on: nil))
        #expect(try await all().count == 2)
        #expect(try await audit.maintainPartitions() == 0)
    }

    @Test(.storage) func `a partition is dropped 24 months after its end, and not before`() async throws {
        let months = try await client.query(
            """
            SELECT to_char(m, 'YYYY_MM') AS name, m::text AS low, (m + interval '1 month')::text AS high
            FROM (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') - make_interval(months => n) AS m
                  FROM unnest(ARRAY[24, 25, 26]) n) months
            """)
        for month in months {
            let (name, low, high) = (
                try month.decode("name", as: String.self), try month.decode("low", as: String.self),
                try month.decode("high", as: String.self)
            )
            try await client.execute(
                """
                CREATE TABLE audit_log_\(unescaped: name) PARTITION OF audit_log
                FOR VALUES FROM ('\(unescaped: low)+00') TO ('\(unescaped: high)+00')
                """)
        }
        #expect(try await audit.maintainPartitions() == 2)
        #expect(try await partitions().contains("audit_log_\(try months[0].decode("name", as: String.self))"))
        #expect(try await audit.maintainPartitions() == 0)
    }

    @Test(.storage) func `the default partition is kept while its newest row is younger than 24 months`() async throws {
        try await insert(ago: 30)
        try await insert(ago: 20)
        #expect(try await audit.maintainPartitions() == 0)
        #expect(try await all().count == 2)
    }

    @Test(.storage) func `a default partition of old rows is replaced by an empty one, which is guarded as well`() async throws {
        try await insert(ago: 30)
        #expect(try await audit.maintainPartitions() == 1)
        #expect(try await all().isEmpty)
        try await insert(ago: 30)
        await #expect(throws: PostgresError.self) { try await client.execute("TRUNCATE audit_log_default") }
        await #expect(throws: PostgresError.self) { try await client.execute("DELETE FROM audit_log_default") }
    }

    @Test(.storage) func `partitions are made once by concurrent runs, beside inserts`() async throws {
        for partition in try await partitions() where partition != "audit_log_default" {
            try await client.execute("DROP TABLE \(unescaped: partition)")
        }
        let made = try await race(8) { index in
            if index % 2 == 0 { return try await audit.maintainPartitions() }
            try await audit.append(AuditEntry(.signedIn, by: .anonymous, on: nil))
            return 0
        }
        #expect((2...3).contains(made.reduce(0, +)))
        #expect(try await all().count == 4)
    }
}
