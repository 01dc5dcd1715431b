import Accounts
import Foundation
import HTTPClient
import JSON
import Pictures
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The exchanges of image jobs.
@Suite struct GoldenImageTests {
    /// The exchanges of a customer, and the customer.
    private static func customer() async throws -> (GoldenExchanges, Customer) {
        let customer = try await api.customer("ada")
        return (GoldenExchanges(api, ["<token>": customer.token]), customer)
    }

    /// Waits for a job of an order that is not answered yet.
    private static func onlyJob() async throws -> UUID {
        try await eventually("the job exists") {
            try await api.postgres.query("SELECT id FROM image_jobs WHERE status = 'pending'").first?.decode("id", as: UUID.self)
        }
    }

    @Test(.api) func `an order, its repetition, and another one under its key`() async throws {
        let (golden, customer) = try await Self.customer()
        let key = ["<uuid:request>": UUID().wireString]
        let first = try await golden.run("image-order", key)
        let again = try await golden.run("image-order-repeated", key)
        #expect(again.text == first.text)
        try await golden.run("image-order-key-reused", key)
        // Another attempt works on it.
        let other = UUID().wireString
        let scope = IdempotencyScope(userID: customer.userID, route: "POST /v1/images/process", key: other)
        let began = try await IdempotencyRepository(api.postgres).begin(
            scope, lease: .seconds(60), lifetime: IdempotencyRepository.defaultLifetime)
        if case .began = began {} else { Issue.record("the key is in use") }
        try await golden.run("image-order-in-progress", ["<uuid:request>": other])
    }

    @Test(.api) func `orders that are refused`() async throws {
        let (golden, _) = try await Self.customer()
        try await golden.run("image-order-template-not-found")
        try await golden.run("image-order-invalid-image")
        try await golden.run("image-order-too-large")
        try await golden.run("image-order-invalid-option")
        try await golden.run("image-order-unauthorized", ["<token>": OpaqueToken.generate().text])
    }

    @Test(.api { $0.limits.imageJobs.open = 1 }) func `too many jobs that have not ended`() async throws {
        let (golden, customer) = try await Self.customer()
        _ = try await api.job(by: customer)
        try await golden.run("image-order-rate-limited")
    }

    @Test(.api) func `an order that waits for its picture`() async throws {
        let (golden, _) = try await Self.customer()
        async let completed = golden.run("image-order-finished")
        try await api.complete(try await Self.onlyJob())
        _ = try await completed
        async let failed = golden.run("image-order-finished-failed")
        try await api.fail(try await Self.onlyJob())
        _ = try await failed
    }

    @Test(.api) func `a job in each of its states`() async throws {
        let (golden, customer) = try await Self.customer()
        let id = try await api.job(by: customer)
        let job = GoldenExchanges(api, golden.known.merging(["<uuid:job>": id.wireString]) { $1 })
        try await job.run("image-job-pending")
        #expect(try await ImageJobRepository(api.postgres).begin(id: id) != nil)
        try await job.run("image-job-processing")
        try await job.run("image-job-forbidden", ["<token>": try await api.customer("eve").token])
        // As if the worker had died: another one takes the job over.
        try await api.postgres.execute("UPDATE image_jobs SET worker = NULL, lease_until = NULL WHERE id = \(id)")
        try await api.complete(id)
        try await job.run("image-job-completed")
        try await job.run("image-job-completed-links")
        try await job.run("image-job-not-modified")
        try await job.run("image-job-events-completed")
        try await job.run("image-job-events-known")
        try await job.run("image-jobs-list")
        try await job.run("image-job-delete")
        try await job.run("image-job-not-found")
    }

    @Test(.api) func `a job that failed`() async throws {
        let (golden, customer) = try await Self.customer()
        let id = try await api.job(by: customer)
        try await api.fail(id)
        let job = GoldenExchanges(api, golden.known.merging(["<uuid:job>": id.wireString]) { $1 })
        try await job.run("image-job-failed")
        try await job.run("image-job-events-failed")
        _ = try await api.job(by: customer)
        try await golden.run("image-jobs-page")
    }
}
