import Foundation
import HTTPClient
import JSON
import PostgresClient
import TestSupport
import Testing
import Topics
import WireFormat

@testable import IdentityAPI

@Suite struct ImageJobTests {
    @Test(.api) func `the body of a waiting job is exact`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        let response = try await api.get(Path.job(id), by: customer, headers: [("X-Request-ID", "r-1")])
        let created = try #require(response.json.text("data.created_at"))
        let time = try #require(response.json.text("meta.timestamp"))
        #expect(
            response.text == #"{"success":true,"data":{"job_id":"\#(id.wireString)","status":"pending","#
                + #""created_at":"\#(created)","attempts":0},"#
                + #""meta":{"requestId":"r-1","timestamp":"\#(time)"}}"#)
    }

    @Test(.api) func `the body of a completed job is exact and has the picture's real type`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        // The size is more than one piece, and not a multiple of three.
        let picture = (0..<100_001).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await api.complete(id, picture: picture, format: "webp")
        let response = try await api.get(Path.job(id), by: customer, headers: [("X-Request-ID", "r-1")])
        let (created, completed) = (response.json.text("data.created_at") ?? "", response.json.text("data.completed_at") ?? "")
        let time = try #require(response.json.text("meta.timestamp"))
        let expected =
            #"{"success":true,"data":{"job_id":"\#(id.wireString)","status":"completed","created_at":"\#(created)","#
            + #""completed_at":"\#(completed)","attempts":0,"result":{"processed_image_base64":"data:image/webp;base64,"#
            + Data(picture).base64EncodedString()
            + #"","metadata":{"templateId":"anime-style","templateName":"Anime Style","modelUsed":"local","#
            + #""generationTimeMs":1234,"originalDimensions":{"width":640,"height":480},"#
            + #""processedDimensions":{"width":512,"height":384}}}},"meta":{"requestId":"r-1","timestamp":"\#(time)"}}"#
        #expect(response.text == expected)
        #expect(response.header("Content-Length") == "\(expected.utf8.count)")
    }

    @Test(.api) func `a failed job has a reason with a public message`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        try await api.fail(id)
        let response = try await api.get(Path.job(id), by: customer)
        #expect(response.json.text("data.status") == "failed")
        #expect(response.text.contains(#""error":{"code":"content_blocked","message":"This picture cannot be worked on."}}"#))
        #expect(response.json.value("data.result") == nil)
    }

    @Test(.api) func `a job is visible to its user only, and an expired one to no user`() async throws {
        let (customer, other) = (try await api.customer("one"), try await api.customer("another"))
        let id = try await api.job(by: customer)
        let denied = try await api.get(Path.job(id), by: other)
        #expect(denied.refusal == "403 forbidden" && denied.json.text("message") == "Access denied")
        let unknown = try await api.get(Path.job(UUID()), by: customer)
        #expect(unknown.refusal == "404 job_not_found" && unknown.json.text("message") == "Job not found")
        #expect(try await api.get("\(Path.jobs)/nonsense", by: customer).refusal == "404 job_not_found")
        #expect(try await api.send("GET", Path.job(id)).refusal == "401 unauthorized")
        try await api.postgres.execute("UPDATE image_jobs SET expires_at = now()")
        #expect(try await api.get(Path.job(id), by: customer).refusal == "404 job_not_found")
        #expect(try await api.get(Path.job(id), by: other).refusal == "404 job_not_found")
    }

    @Test(.api) func `a waiting request is answered when the job has ended`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        async let answer = api.get(Path.job(id) + "?wait=60", by: customer)
        try await eventually("it waits") { api.jobFeed.count == 1 }
        try await api.complete(id)
        #expect(try await answer.json.text("data.status") == "completed")
        #expect(try await api.get(Path.job(id) + "?wait=61", by: customer).refusal == "400 invalid_request wait")
    }

    @Test(.api) func `a waiting request whose sign-in ends meanwhile gets 401`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        async let answer = api.get(Path.job(id) + "?wait=60", by: customer)
        try await eventually("it waits") { api.jobFeed.count == 1 }
        try await api.postgres.execute("UPDATE access_tokens SET expires_at = now()")
        // The end of the row ends the wait.
        try await api.postgres.execute("UPDATE image_jobs SET expires_at = now()")
        api.jobFeed.wake(id)
        #expect(try await answer.refusal == "401 unauthorized")
    }

    @Test(.api) func `a current entity tag gets 304`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        let pending = try #require(try await api.get(Path.job(id), by: customer).header("ETag"))
        let same = try await api.get(Path.job(id), by: customer, headers: [("If-None-Match", "\"x\", \(pending)")])
        #expect(same.status == 304 && same.body.isEmpty)
        try await api.complete(id)
        let changed = try await api.get(Path.job(id), by: customer, headers: [("If-None-Match", pending)])
        #expect(changed.status == 200 && changed.header("ETag") != pending)
        let tag = try #require(changed.header("ETag"))
        let linked = try await api.get(Path.job(id) + "?result=url", by: customer, headers: [("If-None-Match", tag)])
        #expect(linked.status == 200, "it has the other form")
    }

    @Test(.api) func `fetching an outcome marks it as seen`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        _ = try await api.get(Path.job(id), by: customer)
        try await api.complete(id)
        #expect(try await UnreadRepository(api.postgres).totals(userIDs: [customer.userID]) == [customer.userID: 1])
        _ = try await api.get(Path.job(id), by: customer)
        #expect(try await UnreadRepository(api.postgres).totals(userIDs: [customer.userID]).isEmpty)
    }

    @Test(.api { $0.downloads = 0 }) func `an outcome whose picture could not be sent is not marked as seen`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        try await api.complete(id)
        #expect(try await api.get(Path.job(id), by: customer).status == 503)
        let unseen = try await UnreadRepository(api.postgres).totals(userIDs: [customer.userID])
        #expect(unseen == [customer.userID: 1])
    }

    @Test(.api) func `jobs are listed newest first, page by page, and only their user's`() async throws {
        let (customer, other) = (try await api.customer("one"), try await api.customer("another"))
        _ = try await api.job(by: other)
        var ids: [String] = []
        for _ in 0..<5 { ids.insert(try await api.job(by: customer).wireString, at: 0) }
        var (listed, cursor, pages): ([String], String?, Int) = ([], nil, 0)
        repeat {
            let page = try await api.get("\(Path.jobs)?limit=2" + (cursor.map { "&cursor=\($0)" } ?? ""), by: customer)
            listed += page.json.value("data.jobs")?.elements?.compactMap { $0["job_id"]?.string } ?? []
            cursor = page.json.text("data.next_cursor")
            pages += 1
        } while cursor != nil && pages < 10
        #expect(listed == ids && pages == 3)
        #expect(try await api.get("\(Path.jobs)?cursor=x", by: customer).refusal == "400 invalid_request cursor")
        #expect(try await api.get("\(Path.jobs)?limit=0", by: customer).refusal == "400 invalid_request limit")
    }

    @Test(.api) func `the body of a list is exact`() async throws {
        let customer = try await api.customer()
        #expect(try await api.get(Path.jobs, by: customer).text == #"{"success":true,"data":{"jobs":[]}}"#)
        let id = try await api.job(by: customer)
        let response = try await api.get(Path.jobs, by: customer)
        let created = response.json.value("data.jobs")?[0]?["created_at"]?.string ?? ""
        #expect(
            response.text == #"{"success":true,"data":{"jobs":[{"job_id":"\#(id.wireString)","status":"pending","#
                + #""template_id":"anime-style","created_at":"\#(created)","completed_at":null}]}}"#)
    }

    @Test(.api) func `a job that is deleted is gone with its pictures, for its user only`() async throws {
        let (customer, other) = (try await api.customer("one"), try await api.customer("another"))
        let id = try await api.job(by: customer)
        try await api.complete(id)
        #expect(try await api.send("DELETE", Path.job(id), headers: [other.bearer]).refusal == "403 forbidden")
        #expect(api.storedFiles().count == 3)
        let deleted = try await api.send("DELETE", Path.job(id), headers: [customer.bearer])
        #expect(deleted.status == 204 && deleted.body.isEmpty)
        #expect(api.storedFiles().isEmpty)
        #expect(try await api.get(Path.job(id), by: customer).refusal == "404 job_not_found")
        #expect(try await api.send("DELETE", Path.job(id), headers: [customer.bearer]).refusal == "404 job_not_found")
        #expect(try await api.count("image_jobs") == 0)
    }

    @Test(.api) func `templates are listed without a bearer`() async throws {
        let response = try await api.send("GET", "/v1/templates")
        let templates = try #require(response.json.value("data.templates")?.elements)
        #expect(templates.count >= 6)
        #expect(templates.allSatisfy { $0.members?.map(\.name) == ["id", "name", "description", "preview"] })
        #expect(!response.text.contains("prompt"))
    }
}
