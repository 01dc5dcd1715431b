import Accounts
import FoundationEssentials
import PostgresClient
import Testing

/// The limits of wrong codes of one site, and of all.
struct WrongCodeTests {
    private var codes: WrongCodeRepository { WrongCodeRepository(client) }

    private var limits: WrongCodeLimits {
        var limits = WrongCodeLimits()
        limits.total = 20
        return limits
    }

    private func guess(_ count: Int, from site: Int) async throws {
        for _ in 0..<count { try await codes.add(from: hash(site)) }
    }

    private func waits(_ site: Int, entering id: UUID = UUID()) async throws -> Bool {
        try await codes.wait(of: hash(site), entering: id, limits: limits) != nil
    }

    @Test(.storage) func `when the total is reached, sites that have guessed wait, and others enter their codes`() async throws {
        try await guess(10, from: 1)
        #expect(try await !waits(1), "the total is not reached")
        try await guess(10, from: 2)
        for site in 1...2 { #expect(try await waits(site)) }
        #expect(try await !waits(3))
        try await guess(1, from: 3)
        #expect(try await !waits(3), "a person has mistyped a code")
        try await guess(1, from: 3)
        #expect(try await waits(3))
    }

    @Test(.storage) func `few of one site count, so that it cannot reach the total alone`() async throws {
        try await guess(10, from: 2)
        try await guess(20, from: 1)
        for site in 1...2 { #expect(try await waits(site), "the later ones of one site hide no others") }
        try await client.execute("DELETE FROM wrong_codes WHERE id = (SELECT min(id) FROM wrong_codes)")
        for site in 1...2 { #expect(try await !waits(site)) }
    }

    @Test(.storage) func `a site that has entered 120 wrong codes waits for an hour, whatever others enter`() async throws {
        try await guess(WrongCodeLimits.perSite - 1, from: 1)
        #expect(try await !waits(1))
        try await guess(10, from: 1)
        #expect(try await waits(1))
        #expect(try await !waits(2))
        let rows = try await client.query("SELECT count(*) AS n FROM wrong_codes")
        #expect(try rows.required().decode("n", as: Int.self) == WrongCodeLimits.perSite, "a site adds no further rows")
        try await client.execute("UPDATE wrong_codes SET at = now() - interval '1 hour' WHERE id = (SELECT min(id) FROM wrong_codes)")
        #expect(try await !waits(1))
    }

    @Test(.storage) func `a site that guesses steadily counts in the total as one that guesses at once`() async throws {
        try await guess(30, from: 1)
        try await client.execute("UPDATE wrong_codes SET at = now() - interval '1 hour' WHERE is_in_total")
        try await guess(30, from: 1)
        let rows = try await client.query("SELECT count(*) AS n FROM wrong_codes WHERE is_in_total AND at > now() - interval '1 hour'")
        #expect(try rows.required().decode("n", as: Int.self) == WrongCodeLimits.perSiteInTotal)
    }

    @Test(.storage) func `a proven verification passes`() async throws {
        try await guess(10, from: 1)
        try await guess(10, from: 2)
        let (proven, other) = (try await CodeMails().ask(from: 1, .emailChange).id, try await CodeMails().ask(from: 1).id)
        #expect(try await !waits(1, entering: proven))
        #expect(try await waits(1, entering: other))
    }

    @Test(.storage) func `without a limit nothing waits`() async throws {
        try await guess(30, from: 1)
        var limits = WrongCodeLimits()
        limits.total = 0
        #expect(try await codes.wait(of: hash(1), entering: UUID(), limits: limits) == nil)
    }
}
