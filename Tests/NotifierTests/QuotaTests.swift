import Logging
import PostgresClient
import Storage
import Testing
import WireFormat

@testable import Notifier

@Suite struct QuotaTests {
    @Test func `before there is leave a hundred pushes that are waited for may go, and none of a fan-out`() async throws {
        // Nobody asks the database for leave: the quota does not run.
        let postgres = try PostgresClient(
            configuration: PostgresConfiguration(url: "postgresql://localhost:1/none"), logger: NotifierFixture.quiet)
        let quota = Quota(
            postgres: postgres, project: "p", limits: PushQuotaLimits(perSecond: 1000, bulkRamp: .zero),
            logger: NotifierFixture.quiet)
        #expect(quota.take(64, .bulk) == 0)
        #expect(quota.take(64, .urgent) == 64)
        #expect(quota.take(64, .normal) == 36, "both lanes share the same leave")
        #expect(quota.take(1, .urgent) == 0)
        await postgres.shutdown()
    }
}
