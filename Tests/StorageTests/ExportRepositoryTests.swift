import FoundationEssentials
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import Accounts

@Suite struct AccountExportRepositoryTests {
    private static func begin(_ user: UUID, _ id: UUID = UUID(), lease: Duration = .seconds(60), maxPerDay: Int = 5) async throws
        -> AccountExportRepository.Start
    {
        try await client.withTransaction {
            try await AccountExportRepository($0).begin(id: id, userID: user, lease: lease, maxPerDay: maxPerDay)
        }
    }

    @Test(.storage) func `an account has one export at a time, whatever others have`() async throws {
        let (user, other, id) = (try await client.user(1), try await client.user(2), UUID())
        #expect(try await Self.begin(user, id) == .begun)
        #expect(try await Self.begin(user) == .busy)
        #expect(try await Self.begin(other) == .begun)
        try await AccountExportRepository(client).end(id: id)
        #expect(try await Self.begin(user) == .begun)
    }

    @Test(.storage) func `of several that begin at once, one does`() async throws {
        let user = try await client.user()
        let starts = try await race(8) { _ in try await Self.begin(user) }
        #expect(starts.count { $0 == .begun } == 1 && starts.count { $0 == .busy } == 7)
    }

    @Test(.storage) func `an export whose lease has run out is over, and cannot be renewed`() async throws {
        let (user, id) = (try await client.user(), UUID())
        let exports = AccountExportRepository(client)
        #expect(try await Self.begin(user, id) == .begun)
        #expect(try await exports.renew(id: id, lease: .seconds(60)))
        try await client.execute("UPDATE account_exports SET lease_until = now()")
        #expect(try await !exports.renew(id: id, lease: .seconds(60)))
        #expect(try await Self.begin(user) == .begun)
    }

    @Test(.storage) func `the exports of a day are counted, and forgotten after it`() async throws {
        let user = try await client.user()
        let exports = AccountExportRepository(client)
        for _ in 0..<2 {
            let id = UUID()
            #expect(try await Self.begin(user, id, maxPerDay: 2) == .begun)
            try await exports.end(id: id)
        }
        guard case .exhausted(let wait) = try await Self.begin(user, maxPerDay: 2) else {
            Issue.record("a third export has begun")
            return
        }
        #expect((86_000...86_400).contains(wait / .seconds(1)))
        #expect(try await exports.deleteExpired(limit: 10) == 0)
        try await client.execute(
            "UPDATE account_exports SET started_at = started_at - interval '1 day', lease_until = now() - interval '1 day'")
        #expect(try await Self.begin(user, maxPerDay: 2) == .begun)
        #expect(try await exports.deleteExpired(limit: 10) == 2)
    }

    @Test(.storage) func `an export ends with its account`() async throws {
        let (user, id) = (try await client.user(), UUID())
        #expect(try await Self.begin(user, id) == .begun)
        try await client.execute("DELETE FROM users WHERE id = \(user)")
        #expect(try await !AccountExportRepository(client).renew(id: id, lease: .seconds(60)))
    }
}

@Suite struct ExportRepositoryTests {
    @Test(.storage, arguments: ExportedList.allCases) func `each list can be read`(list: ExportedList) async throws {
        let user = try await client.user()
        #expect(try await ExportRepository(client).records(of: list, userID: user, after: nil, limit: 10).isEmpty)
    }

    @Test(.storage) func `a page begins after the last record of the one before, also among records of one time`() async throws {
        let user = try await client.user()
        try await client.execute(
            """
            INSERT INTO user_blocks (user_id, blocked_id, created_at)
            SELECT \(user), gen_random_uuid(), now() - make_interval(secs => n / 3) FROM generate_series(1, 10) n
            """)
        let exports = ExportRepository(client)
        var (last, read): (ExportedRecord?, [ExportedRecord]) = (nil, [])
        for count in [4, 4, 2, 0] {
            let page = try await exports.records(of: .blocks, userID: user, after: last, limit: 4)
            #expect(page.count == count)
            read += page
            last = page.last ?? last
        }
        #expect(Set(read.map(\.id)).count == 10)
        #expect(read.map(\.at) == read.map(\.at).sorted())
    }

    @Test(.storage) func `the audit log of a user is exported without who acted, and from where`() async throws {
        let user = try await client.user()
        let entry = AuditEntry(
            .accountShown, by: .operator("hopper"), on: user, requestID: "r-1", detail: "by_id", addressKey: hash(7))
        try await AuditRepository(client).append(entry)
        try await AuditRepository(client).append(AuditEntry(.accountShown, by: .operator("hopper"), on: UUID()))
        let records = try await ExportRepository(client).records(of: .audit, userID: user, after: nil, limit: 10)
        #expect(records.count == 1)
        for part in ["account_shown", "operator", "by_id", "r-1"] { #expect(records[0].json.contains("\"\(part)\"")) }
        for part in ["hopper", "address"] { #expect(!records[0].json.contains(part)) }
    }

    @Test(.storage, arguments: [(ExportedList.blocks, PeopleList.blocks), (.contacts, .contacts)])
    func `a list has the records of one user only`(exported: ExportedList, list: PeopleList) async throws {
        let (user, other) = (try await client.user(1), try await client.user(2))
        try await client.withTransaction { _ = try await PeopleListRepository(list, $0).add(user, for: other) }
        let exports = ExportRepository(client)
        #expect(try await exports.records(of: exported, userID: user, after: nil, limit: 10).isEmpty)
        let records = try await exports.records(of: exported, userID: other, after: nil, limit: 10)
        #expect(records.count == 1 && records[0].json.contains(user.wireString))
    }
}
