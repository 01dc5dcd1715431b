import Foundation
import HTTPClient
import JSON
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct ReceiptTests {
    private static let path = "/v1/notifications/receipts"

    @Test(.api) func `a repeated receipt counts once`() async throws {
        let ada = try await api.customer()
        let id = try await api.notification(for: ada)
        let receipts =
            #"[{"notification_id":"\#(id)","event":"delivered","at":"2020-01-01T00:00:00Z"},"#
            + #"{"notification_id":"\#(id)","event":"opened"},{"notification_id":"\#(id)","event":"opened"}]"#
        let first = try await api.json("POST", Self.path, receipts, by: ada)
        #expect(first.status == 200)
        #expect(first.json.number("data.received") == 3)
        #expect(first.json.number("data.counted") == 2)
        #expect(try await api.json("POST", Self.path, receipts, by: ada).json.number("data.counted") == 0)
        let clamped = try await api.postgres.query(
            "SELECT bool_and(r.at BETWEEN n.created_at AND now()) AS yes FROM notification_receipts r, notifications n")
        #expect(try clamped[0].decode("yes", as: Bool.self))
    }

    @Test(.api) func `receipts for other users' pushes and for unknown pushes get the same response`() async throws {
        let (ada, eve) = (try await api.customer("one"), try await api.customer("another"))
        for id in [try await api.notification(for: ada), UUID().wireString] {
            let answer = try await api.json("POST", Self.path, #"[{"notification_id":"\#(id)","event":"opened"}]"#, by: eve)
            #expect(answer.status == 200 && answer.json.number("data.counted") == 0)
        }
        #expect(try await api.count("notification_receipts") == 0)
    }

    @Test(.api) func `a receipt may name its push by its job`() async throws {
        let ada = try await api.customer()
        let job = UUID()
        _ = try await api.notification(for: ada, dedupeKey: "job:\(job.wireString)")
        let answer = try await api.json("POST", Self.path, #"[{"job_id":"\#(job)","event":"opened"}]"#, by: ada)
        #expect(answer.json.number("data.counted") == 1)
    }

    private static let badReceipts: [(body: String, refusal: String)] = [
        ("{}", "400 invalid_request"), ("[", "400 invalid_request"), ("[7]", "400 invalid_request [0]"),
        (#"[{"event":"opened"}]"#, "400 missing_field [0].notification_id"),
        (#"[{"notification_id":"x","event":"opened"}]"#, "400 invalid_request [0].notification_id"),
        (#"[{"message_id":"m"}]"#, "400 missing_field [0].event"),
        (#"[{"message_id":"m","event":"eaten"}]"#, "400 invalid_request [0].event"),
        (#"[{"message_id":"m","event":"opened","at":"noon"}]"#, "400 invalid_request [0].at"),
        (#"[{"event_id":"a b","event":"opened"}]"#, "400 invalid_request [0].event_id"),
        ("[" + Array(repeating: #"{"message_id":"m","event":"opened"}"#, count: 101).joined(separator: ",") + "]", "400 invalid_request"),
        ("[" + String(repeating: " ", count: 70_000) + "]", "413 payload_too_large"),
    ]

    @Test(.api) func `invalid receipts are refused with their index and field`() async throws {
        let ada = try await api.customer()
        for (body, refusal) in Self.badReceipts {
            #expect(try await api.json("POST", Self.path, body, by: ada).refusal == refusal, "\(body.prefix(80))")
        }
    }

    @Test(.api) func `a request has up to a hundred receipts and needs a bearer`() async throws {
        let ada = try await api.customer()
        let many = "[" + Array(repeating: #"{"message_id":"m","event":"suppressed"}"#, count: 100).joined(separator: ",") + "]"
        #expect(try await api.json("POST", Self.path, many, by: ada).json.number("data.received") == 100)
        #expect(try await api.json("POST", Self.path, "[]", by: ada).json.number("data.received") == 0)
        #expect(try await api.json("POST", Self.path, "[]").refusal == "401 unauthorized")
    }

    @Test(.api) func `the trigger of an outcome's fetch counts once per job and trigger`() async throws {
        let ada = try await api.customer()
        let job = try await api.job(by: ada)
        func fetch(_ trigger: String) async throws {
            let answer = try await api.get(Path.job(job), by: ada, headers: [("X-Client-Trigger", trigger)])
            #expect(answer.status == 200)
        }
        try await fetch("poll")
        #expect(try await api.count("image_job_reads") == 0, "there is no outcome yet")
        try await api.complete(job)
        for trigger in ["push", "Push", "poll", "curiosity"] { try await fetch(trigger) }
        let reads = try await ReceiptRepository(api.postgres).firstReads(since: Date(timeIntervalSinceNow: -600))
        #expect(reads == ["push": 1])
        #expect(try await api.count("image_job_reads") == 2)
    }
}

extension IdentityFixture {
    /// Makes a notification for a user and returns its id.
    func notification(for customer: Customer, dedupeKey: String = UUID().uuidString) async throws -> String {
        let new = NewNotification(
            id: UUIDv7.generate(), dedupeKey: dedupeKey, content: .sample(.jobCompleted), recipient: .user(customer.userID), lane: .normal,
            expiresAt: Date(timeIntervalSinceNow: 600))
        #expect(try await NotificationRepository(postgres).insert(new))
        return new.id.wireString
    }
}
