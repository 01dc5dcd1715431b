import Logging
import PostgresClient
import Push
import Testing
import WireFormat

@testable import Notifier

@Suite struct QuotaTests {
    @Test func `without a grant a hundred urgent and normal pushes are sent, and no bulk push`() async throws {
        // The quota does not run, so it takes no tokens from the database.
        let postgres = try PostgresClient(
            configuration: PostgresConfiguration(url: "postgresql://localhost:1/none"), logger: NotifierFixture.quiet)
        let quota = Quota(
            postgres: postgres, project: "p", limits: PushQuotaLimits(perSecond: 1000, bulkRamp: .zero),
            logger: NotifierFixture.quiet)
        #expect(quota.take(64, .bulk) == 0)
        #expect(quota.take(64, .urgent) == 64)
        #expect(quota.take(64, .normal) == 36, "both lanes share a balance")
        #expect(quota.take(1, .urgent) == 0)
        await postgres.shutdown()
    }
}
