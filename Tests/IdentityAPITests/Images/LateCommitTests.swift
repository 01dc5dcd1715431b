import BlobStore
import Foundation
import Logging
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct LateCommitTests {
    /// The key of the advisory lock that commits wait for; the database belongs to the test.
    private static let gate: Int64 = 7

    @Test(.api) func `the outcome of an unanswered commit is unknown, because it may still happen`() async throws {
        let customer = try await api.customer()
        try await Self.holdCommits(api.postgres)
        var configuration = PostgresConfiguration(
            url: try api.context.settings.string("DATABASE_URL", "the database of the test"))
        configuration.queryTimeout = .seconds(3)
        configuration.cancelGrace = .milliseconds(100)
        var logger = Logger(label: "late-commit")
        logger.logLevel = .critical
        let impatient = try PostgresClient(configuration: configuration, logger: logger)
        let starter = ImageJobStarter(
            postgres: impatient, keys: api.keys, processingTime: .seconds(300), admission: ImageJobAdmission())
        let jobID = UUID()
        try await api.postgres.withTransaction { transaction in
            // This transaction is idle until the starter fails.
            try await transaction.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            try await transaction.execute("SELECT pg_advisory_xact_lock(\(Self.gate))")
            await #expect(throws: OutcomeUnknown.self) {
                _ = try await starter.start(
                    Self.order(), jobID: jobID, inputKey: BlobFolder.imageJobs.key("input", of: jobID), lease: nil,
                    origin: .init(userID: customer.userID, requestID: "r-1", traceparent: nil))
            }
        }
        try await eventually("the commit happens after all") { try await api.onlyJob() == jobID ? () : nil }
        await impatient.shutdown()
    }

    private static func order() -> ReceivedImageOrder {
        let order = ImageOrder(templateID: "vintage", width: nil, height: nil, quality: nil, target: nil, isAsync: nil)
        return ReceivedImageOrder(order: order, fingerprint: Array(repeating: 1, count: 32), cost: .zero)
    }

    /// Makes every commit of a job wait for the gate; a cancel request does not end that wait.
    private static func holdCommits(_ postgres: PostgresClient) async throws {
        try await postgres.execute(
            """
            CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                LOOP
                    BEGIN
                        PERFORM pg_advisory_xact_lock_shared(\(unescaped: "\(gate)"));
                        RETURN NULL;
                    EXCEPTION WHEN query_canceled THEN
                        NULL;
                    END;
                END LOOP;
            END $$
            """)
        try await postgres.execute(
            """
            CREATE CONSTRAINT TRIGGER waits_at_gate AFTER INSERT ON image_jobs
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_gate()
            """)
    }
}
