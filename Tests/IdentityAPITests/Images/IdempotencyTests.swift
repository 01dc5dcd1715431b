import Accounts
import Foundation
import HTTPClient
import JSON
import NIOCore
import PostgresClient
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct IdempotencyTests {
    private static let key = (name: "X-Request-ID", value: "2F1B9A6C-5C5E-4B0F-9A59-0C4C4D5B8E11")

    @Test(.api) func `a repetition gets the first answer and creates nothing`() async throws {
        let customer = try await api.customer()
        let first = try await api.order(by: customer, headers: [Self.key])
        let again = try await api.order(by: customer, headers: [Self.key])
        #expect(first.header("Idempotent-Replayed") == nil)
        #expect(again.status == 202 && again.text == first.text)
        #expect(again.header("Idempotent-Replayed") == "true")
        #expect(try await api.count("image_jobs") == 1)
        #expect(try await api.count("outbox") == 1)
        #expect(api.storedFiles().count == 1)
    }

    @Test(.api) func `an order in another spelling, or as a form, is a repetition`() async throws {
        let customer = try await api.customer()
        let first = try await api.order(by: customer, headers: [Self.key])
        let spelt = Order().with(picture: TestPhoto.jpeg()).with(#""async":true"#)
        let bare = try await api.order(spelt, by: customer, headers: [Self.key])
        #expect(bare.text == first.text)
        let form = try await api.send(Order().form, to: Order.path, headers: [customer.bearer, Self.key])
        #expect(form.text == first.text)
        #expect(try await api.count("image_jobs") == 1)
    }

    private static let otherOrders: [Order] = [
        Order(templateID: "vintage"), Order(picture: TestPhoto.jpeg(seed: 1)), Order().with(#""options":{"width":512}"#),
        Order().with(#""device_token":"\#(Form.pushToken)""#), Order().with(#""async":false"#),
    ]

    @Test(.api) func `another order under the same key is refused`() async throws {
        let customer = try await api.customer()
        for order in Self.otherOrders {
            #expect(try await api.order(by: customer, headers: [Self.key]).status == 202)
            #expect(try await api.order(order, by: customer, headers: [Self.key]).refusal == "422 idempotency_key_reused")
            #expect(try await api.count("image_jobs") == 1)
        }
    }

    @Test(.api) func `keys are separate per user, and requests without a valid key are not repetitions`() async throws {
        let (one, other) = (try await api.customer("one"), try await api.customer("another"))
        let noUUID = ("X-Request-ID", "not-a-uuid")
        let ids = try await [
            api.order(by: one, headers: [Self.key]), api.order(by: other, headers: [Self.key]),
            api.order(by: one, headers: [noUUID]), api.order(by: one, headers: [noUUID]),
            api.order(by: one), api.order(by: one, headers: [Self.key, ("Idempotency-Key", "\"mine\"")]),
        ].compactMap { $0.json.text("data.job_id") }
        #expect(Set(ids).count == 6)
        let again = try await api.order(by: one, headers: [("Idempotency-Key", "mine")])
        #expect(again.json.text("data.job_id") == ids[5])
    }

    @Test(.api) func `a repetition of a failed order begins anew`() async throws {
        let customer = try await api.customer()
        let refused = try await api.order(Order(templateID: "no-such-template"), by: customer, headers: [Self.key])
        #expect(refused.refusal == "400 template_not_found template_id")
        #expect(try await api.order(by: customer, headers: [Self.key]).status == 202)
    }

    @Test(.api { $0.connection.patience = .minutes(5) })
    func `a repetition gets a 409 while the first order is processed, until its lease runs out`() async throws {
        let customer = try await api.customer()
        let body = Order().json
        let slow = try RawConnection(port: api.port)
        try await slow.post(
            Order.path, type: "application/json", length: body.count, "Authorization: Bearer \(customer.token)",
            "X-Request-ID: \(Self.key.value)")
        try await slow.send(Array(body.dropLast()))
        try await eventually("the first has its key") { try await api.count("idempotency_keys") == 1 }
        let refused = try await api.order(by: customer, headers: [Self.key])
        #expect(refused.refusal == "409 request_in_progress")
        #expect(refused.header("Retry-After") == "1")
        try await api.postgres.execute("UPDATE idempotency_keys SET locked_until = now() - interval '1 second'")
        #expect(try await api.order(by: customer, headers: [Self.key]).status == 202)
        // The first request continues, and must not create another job.
        try await slow.send(Array(body.suffix(1)))
        let late = try #require(try await slow.receive(until: "\"meta\""))
        #expect(late.hasPrefix("HTTP/1.1 409 "))
        #expect(try await api.count("image_jobs") == 1)
        #expect(api.storedFiles().count == 1)
    }

    // The orders are retried without limit, so the rate limits are off.
    @Test(.api { ($0.limits.orders.perMinute, $0.limits.address.perMinute) = (0, 0) })
    func `one of twenty concurrent orders makes a job, and the others get its answer or a 409`() async throws {
        let customer = try await api.customer()
        let order = Order(picture: TestPhoto.jpeg(scanBytes: 200_000))
        let answers = try await race(20) { _ in
            var response = try await api.order(order, by: customer, headers: [Self.key])
            while response.status == 409 { response = try await api.order(order, by: customer, headers: [Self.key]) }
            return response
        }
        #expect(answers.allSatisfy { $0.status == 202 })
        #expect(Set(answers.map(\.text)).count == 1)
        #expect(answers.count { $0.header("Idempotent-Replayed") == nil } == 1)
        #expect(try await api.count("image_jobs") == 1)
        #expect(try await api.count("outbox") == 1)
        #expect(api.storedFiles().count == 1)
    }

    @Test(.api) func `a repetition that waits gets the picture`() async throws {
        let customer = try await api.customer()
        _ = try await api.order(by: customer, headers: [Self.key])
        let id = try #require(try await api.onlyJob())
        try await api.complete(id)
        let again = try await api.order(by: customer, headers: [Self.key, ("Prefer", "wait=30")])
        #expect(again.status == 200)
        #expect(again.header("Idempotent-Replayed") == "true")
        #expect(again.json.text("data.job_id") == id.wireString)
    }

    @Test(.api) func `a key expires after a day`() async throws {
        let customer = try await api.customer()
        let first = try await api.order(by: customer, headers: [Self.key])
        try await api.postgres.execute("UPDATE idempotency_keys SET expires_at = now()")
        let next = try await api.order(by: customer, headers: [Self.key])
        #expect(next.status == 202 && next.json.text("data.job_id") != first.json.text("data.job_id"))
        try await api.postgres.execute("UPDATE idempotency_keys SET expires_at = now()")
        #expect(try await IdempotencyRepository(api.postgres).deleteExpired(limit: 10) == 1)
    }
}
