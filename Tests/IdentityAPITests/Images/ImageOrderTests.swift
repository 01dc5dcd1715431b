import Accounts
import BlobStore
import Foundation
import HTTPClient
import HeliographCrypto
import JSON
import Pictures
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct ImageOrderTests {
    @Test(.api) func `an order is answered exactly as the apps expect`() async throws {
        let customer = try await api.customer()
        let response = try await api.order(by: customer, headers: [("X-Request-ID", "2F1B9A6C-5C5E-4B0F-9A59-0C4C4D5B8E11")])
        let id = try #require(response.json.text("data.job_id"))
        let time = try #require(response.json.text("meta.timestamp"))
        #expect(response.status == 202)
        #expect(
            response.text == #"{"success":true,"data":{"job_id":"\#(id)","status":"pending","estimated_time_seconds":15,"#
                + #""message":"Processing started. You will receive a notification when complete."},"#
                + #""meta":{"requestId":"2F1B9A6C-5C5E-4B0F-9A59-0C4C4D5B8E11","timestamp":"\#(time)"}}"#)
        #expect(response.header("Content-Type") == "application/json")
        #expect(id == UUID(uuidString: id)?.wireString)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
    }

    private static let dataURIs: [String] = ["data:image/png;base64,", "data:;base64,", "data:text/plain;base64,"]

    @Test(.api) func `the type that a data URI declares is ignored`() async throws {
        let customer = try await api.customer()
        for dataURI in Self.dataURIs {
            #expect(
                try await api.order(Order().with(picture: TestPhoto.jpeg(), dataURI: dataURI), by: customer).status == 202, "\(dataURI)"
            )
        }
    }

    private static let unknownQualities: [String] = [#""standard""#, #""HIGH""#, "0.8", "true"]

    @Test(.api) func `an unknown quality is replaced by medium`() async throws {
        let customer = try await api.customer()
        for quality in Self.unknownQualities {
            let id = try await api.job(Order().with(#""options":{"quality":\#(quality),"sharpness":1}"#), by: customer)
            #expect(try await ImageJobRepository(api.postgres).find(id: id)?.quality == "medium", "\(quality)")
        }
    }

    @Test(.api) func `unknown fields of any length are ignored`() async throws {
        let customer = try await api.customer()
        let json = Order().with(#""client":{"version":"7.1","tags":["a",null]}"#).with(#""analytics_id":"x""#)
        #expect(try await api.order(json, by: customer).status == 202)
        var form = Form()
        form.text("analytics", String(repeating: "a", count: 1 << 20))
        form.parts.append(("preview", "preview.gif", Array("GIF89a".utf8)))
        form.parts += Order().form.parts
        form.text("prompt", "x")
        #expect(try await api.send(form, to: Order.path, headers: [customer.bearer]).status == 202)
    }

    @Test(.api) func `an order stores a job, a sealed picture and an event`() async throws {
        let customer = try await api.customer()
        let order = Order(picture: TestPhoto.jpeg(scanBytes: 300_000))
        for isForm in [true, false] {
            let response =
                isForm
                ? try await api.send(order.form, to: Order.path, headers: [customer.bearer]) : try await api.order(order, by: customer)
            let id = try #require(UUID(uuidString: response.json.text("data.job_id") ?? ""))
            let job = try #require(try await ImageJobRepository(api.postgres).find(id: id))
            #expect(job.userID == customer.userID)
            #expect(job.status == .pending)
            #expect(job.templateID == "anime-style")
            let stored = try await api.context.blobStore(.pictures).read(try BlobKey(try #require(job.inputKey)), limit: 1_000_000)
            #expect(stored == order.picture)
            let outbox = try await api.postgres.query("SELECT stream, key FROM outbox")
            #expect(outbox.count == 1)
            #expect(try outbox[0].decode("stream", as: String.self) == "image.requested")
            #expect(try outbox[0].decode("key", as: String.self) == id.wireString)
            try await api.clear("outbox")
        }
    }

    @Test(.api) func `base64 with line breaks is the same picture`() async throws {
        let customer = try await api.customer()
        var order = Order()
        let headers = [("X-Request-ID", UUID().uuidString)]
        #expect(try await api.order(order, by: customer, headers: headers).status == 202)
        for length in [64, 76] {
            order.lineLength = length
            let again = try await api.order(order, by: customer, headers: headers)
            #expect(again.status == 202)
            #expect(again.header("Idempotent-Replayed") == "true")
        }
    }

    @Test(.api) func `options are stored as requested`() async throws {
        let customer = try await api.customer()
        let order = Order().with(#""options":{"width":512.0,"height":768,"quality":"high"}"#)
        let job = try #require(try await ImageJobRepository(api.postgres).find(id: try await api.job(order, by: customer)))
        #expect(job.width == 512)
        #expect(job.height == 768)
        #expect(job.quality == "high")
        var form = Order().form
        form.text("options", #"{"quality":"low"}"#)
        form.text("async", "true")
        let response = try await api.send(form, to: Order.path, headers: [customer.bearer])
        let other = try #require(UUID(uuidString: response.json.text("data.job_id") ?? ""))
        #expect(try await ImageJobRepository(api.postgres).find(id: other)?.quality == "low")
    }

    @Test(.api) func `the estimated time of an order is the median of earlier jobs`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        try await api.complete(id)
        try await api.postgres.execute("UPDATE image_jobs SET completed_at = created_at + interval '41.5 seconds'")
        let response = try await api.order(by: customer)
        #expect(response.json.number("data.estimated_time_seconds") == 42)
    }

    @Test(.api) func `an order that waits gets the picture`() async throws {
        let customer = try await api.customer()
        async let answer = api.order(Order().with(#""async":false"#), by: customer)
        let id = try await eventually("the job exists") { try await api.onlyJob() }
        try await api.complete(id, picture: Array(0...255))
        let response = try await answer
        #expect(response.status == 200)
        let picture = Data(Array(0...255)).base64EncodedString()
        let meta = try #require(response.json.text("meta.timestamp"))
        #expect(
            response.text == #"{"success":true,"data":{"job_id":"\#(id.wireString)","status":"completed","#
                + #""processed_image_base64":"data:image/jpeg;base64,\#(picture)","metadata":{"templateId":"anime-style","#
                + #""templateName":"Anime Style","modelUsed":"local","generationTimeMs":1234,"#
                + #""originalDimensions":{"width":640,"height":480},"processedDimensions":{"width":512,"height":384}}},"#
                + #""meta":{"requestId":"\#(response.header("X-Request-ID") ?? "")","timestamp":"\#(meta)"}}"#)
    }

    @Test(.api) func `an order that prefers to wait gets the 202 after its time, or the reason of a failure`() async throws {
        let customer = try await api.customer()
        let impatient = try await api.order(by: customer, headers: [("Prefer", "wait=1")])
        #expect(impatient.status == 202)
        #expect(impatient.json.text("data.status") == "pending")
        let first = try #require(try await api.onlyJob())
        async let answer = api.order(by: customer, headers: [("Prefer", "respond-async, wait=60")])
        let id = try await eventually("the job exists") { try await api.onlyJob(but: first) }
        try await api.fail(id)
        let failed = try await answer
        #expect(failed.status == 200)
        #expect(failed.header("Preference-Applied") == "wait=60")
        #expect(failed.json.text("data.status") == "failed")
        #expect(failed.json.text("data.error.code") == "content_blocked")
    }

    @Test(.api { $0.waiters = 0 }) func `an order that cannot wait gets the 202, because its job exists`() async throws {
        let response = try await api.order(Order().with(#""async":false"#), by: try await api.customer())
        #expect(response.status == 202 && response.json.text("data.status") == "pending")
        #expect(response.json.text("data.job_id") == (try await api.onlyJob())?.wireString)
    }

    @Test(.api { $0.downloads = 0 }) func `an order that waited gets the 202 when its picture cannot be sent now`() async throws {
        let customer = try await api.customer()
        async let answer = api.order(by: customer, headers: [("Prefer", "wait=30")])
        let id = try await eventually("the job exists") { try await api.onlyJob() }
        try await api.complete(id)
        let response = try await answer
        #expect(response.status == 202 && response.json.text("data.job_id") == id.wireString)
        #expect(response.header("Location") == Path.job(id))
        #expect(response.header("Preference-Applied") == nil)
    }

    @Test(.api) func `a device token takes neither a free device nor another user's`() async throws {
        let order = Order().with(#""device_token":"\#(Form.pushToken)""#)
        _ = try await api.job(order, by: try await api.customer())
        #expect(try await api.boundUsers().isEmpty)
        let owner = try await api.customer("owner")
        #expect(try await api.register(Form.pushToken, by: owner).status == 200)
        _ = try await api.job(order, by: try await api.customer("another customer"))
        #expect(try await api.boundUsers() == [owner.userID])
    }

    @Test(.api) func `a device token never replaces the token of a registered installation`() async throws {
        let customer = try await api.customer()
        #expect(try await api.register(Form.pushToken, by: customer).status == 200)
        let registered = try #require(try await PushInstallRepository(api.postgres).find(userIDs: [customer.userID]).first)
        let installation = try #require(Form.pushToken.split(separator: ":").first)
        let forged = Order().with(#""device_token":"\#(installation):garbage""#)
        for sender in [try await api.customer("another customer"), customer] {
            _ = try await api.job(forged, by: sender)
            #expect(try await api.installs().filter { $0.userID != nil } == [registered])
        }
    }

    @Test(.api { $0.limits.orders = Rate(perMinute: 1, burst: 1) }) func `the orders of each account are limited`() async throws {
        let customer = try await api.customer()
        #expect(try await api.order(by: customer).status == 202)
        let refused = try await api.order(by: customer)
        #expect(refused.refusal == "429 rate_limited")
        #expect(refused.header("Retry-After") != nil)
        #expect(try await api.order(by: try await api.customer("other")).status == 202)
    }

    @Test(.api { $0.limits.imageJobs.open = 2 }) func `the open jobs of an account are limited, also for concurrent orders`() async throws {
        let customer = try await api.customer()
        let answers = try await race(8) { _ in try await api.order(by: customer) }
        #expect(answers.count { $0.status == 202 } == 2)
        #expect(answers.count { $0.refusal == "429 rate_limited" && $0.header("Retry-After") == "15" } == 6)
        #expect(try await api.count("image_jobs") == 2)
        #expect(api.storedFiles().count == 2)
        #expect(try await api.order(by: try await api.customer("other")).status == 202)
    }

    @Test(.api { $0.limits.imageJobs.open = 1 }) func `an ended or deleted job makes room for another`() async throws {
        let customer = try await api.customer()
        try await api.fail(try await api.job(by: customer))
        let second = try await api.job(by: customer)
        #expect(try await api.order(by: customer).refusal == "429 rate_limited")
        #expect(try await api.send("DELETE", Path.job(second), headers: [customer.bearer]).status == 204)
        _ = try await api.job(by: customer)
    }

    @Test(.api) func `an order whose template is deleted meanwhile gets template_not_found`() async throws {
        let customer = try await api.customer()
        let answer = try await api.postgres.withTransaction { transaction in
            try await transaction.execute("DELETE FROM image_templates WHERE id = 'anime-style'")
            let order = Task { try await api.order(by: customer) }
            try await eventually("the order waits for the deletion") {
                try await api.postgres.query(
                    """
                    SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
                    WHERE l.locktype = 'transactionid' AND NOT l.granted AND a.datname = current_database()
                    """
                ).count == 1
            }
            return order
        }
        #expect(try await answer.value.refusal == "400 template_not_found template_id")
        #expect(try await api.count("image_jobs") == 0)
    }

    @Test(.api { $0.limits.imageJobs.inFlight = 2 }) func `an order beyond the places of its account waits for its turn`() async throws {
        let customer = try await api.customer()
        for _ in 0..<3 { _ = try await api.job(by: customer) }
        _ = try await api.job(by: try await api.customer("other"))
        #expect(try await api.count("image_jobs WHERE awaits_turn") == 1)
        #expect(try await api.count("outbox WHERE type = 'image.requested'") == 3)
    }

    @Test(.api { $0.limits.imageJobs.firstTime = .milliseconds(1) })
    func `an order of an account that has used its share is bulk`() async throws {
        _ = try await api.job(by: try await api.customer())
        #expect(try await api.count("image_jobs WHERE lane = 'bulk'") == 1)
        #expect(try await api.count("image_costs WHERE cost_ms > 0") == 1)
        #expect(try await api.count("outbox WHERE stream = 'image.requested.bulk'") == 1)
    }

    @Test(.api { $0.limits.imageJobs.callsPerDay = 1 }) func `an account that had its paid calls of the day gets no further job`()
        async throws
    {
        let customer = try await api.customer()
        _ = try await api.job(by: customer)
        try await api.postgres.execute(
            "INSERT INTO image_calls (day, user_id, calls) VALUES ((now() AT TIME ZONE 'UTC')::date, \(customer.userID), 1)")
        let refused = try await api.order(by: customer)
        #expect(refused.refusal == "429 rate_limited")
        #expect((1...86_400).contains(Int(refused.header("Retry-After") ?? "") ?? 0))
    }

    @Test(.api { $0.limits.imageJobs.open = 0 }) func `a limit of 0 open jobs means no limit`() async throws {
        let customer = try await api.customer()
        for _ in 0..<21 { _ = try await api.job(by: customer) }
    }
}

extension IdentityFixture {
    /// Returns the id of the only job besides another one.
    func onlyJob(but other: UUID? = nil) async throws -> UUID? {
        let rows = try await postgres.query("SELECT id FROM image_jobs WHERE id IS DISTINCT FROM \(other)")
        return try rows.first.map { try $0.decode("id") }
    }
}
