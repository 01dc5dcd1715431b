import EventBus
import Foundation
import HTTPClient
import JSON
import Pictures
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

@Suite struct ImageEventsTests {
    /// Opens the event stream of a job.
    private func follow(
        _ id: UUID, by customer: Customer, in api: IdentityFixture, lastEventID: String? = nil
    ) async throws -> RawConnection {
        let connection = try RawConnection(port: api.port)
        let known = lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        try await connection.send(
            "GET \(Path.job(id))/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(customer.token)\r\n\(known)"
                + "Connection: close\r\n\r\n")
        return connection
    }

    @Test(.api) func `the events of a job run from its current state to its end`() async throws {
        let customer = try await api.customer()
        _ = try await api.job(by: customer)
        let id = try await api.job(by: customer)
        let events = try await follow(id, by: customer, in: api)
        let head = try #require(try await events.receive(until: "\"percent\""))
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.contains("text/event-stream"))
        #expect(head.contains("retry: 2000\n\n"))
        #expect(head.contains("id: pending-q2\nevent: state\n"))
        #expect(head.contains(#"data: {"job_id":"\#(id.wireString)","status":"pending","queue_position":2,"percent":0,"attempts":0}"#))
        let repository = ImageJobRepository(api.postgres)
        #expect(try await repository.begin(id: id) != nil)
        #expect(try await repository.progress(id: id, percent: 40) == 40)
        let working = try #require(try await events.receive(until: #""percent":40,"attempts":0}"#))
        #expect(working.contains(#""status":"processing","queue_position":null,"percent":40,"attempts":0}"#))
        try await api.postgres.execute("UPDATE image_jobs SET attempts = 2 WHERE id = \(id)")
        let again = try #require(try await events.receive(until: #""attempts":2}"#))
        #expect(again.contains("id: processing-40-a2\n"))
        let answer = try await api.get(Path.job(id), by: customer)
        #expect(answer.json.number("data.attempts") == 2)
        try await api.fail(id)
        let rest = try #require(try await events.receive(), "the stream does not end")
        #expect(rest.contains(#""status":"failed""#))
    }

    @Test(.api) func `an event of the bus wakes the followers`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        let events = try await follow(id, by: customer, in: api)
        _ = try await events.receive(until: "\"percent\"")
        try await api.complete(id)
        let announcing = Task {
            while !Task.isCancelled {
                let event = ImageCompleted(jobID: id, status: .completed)
                _ = try await api.context.transport.append([
                    OutgoingEntry(stream: event.stream, envelope: try Envelope(event).encoded())
                ])
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        let end = #""status":"completed","queue_position":null,"percent":100,"attempts":0}"#
        #expect(try await events.receive()?.contains(end) == true)
        announcing.cancel()
    }

    @Test(.api) func `a client that reconnects gets only states that it does not have`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        try await api.complete(id)
        let all = try #require(try await follow(id, by: customer, in: api).receive())
        #expect(all.contains("id: completed-100\n"))
        let again = try #require(try await follow(id, by: customer, in: api, lastEventID: "completed-100").receive())
        #expect(again.hasPrefix("HTTP/1.1 204 "))
        let missed = try #require(try await follow(id, by: customer, in: api, lastEventID: "processing-40").receive())
        #expect(missed.contains("id: completed-100\n"))
    }

    @Test(.api) func `deleting a job ends the stream`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        let events = try await follow(id, by: customer, in: api)
        _ = try await events.receive(until: "\"percent\"")
        #expect(try await api.send("DELETE", Path.job(id), headers: [customer.bearer]).status == 204)
        #expect(try await events.receive() != nil, "the stream does not end")
    }

    @Test(.api { $0.eventStreams = 1 }) func `streams are limited, and a closed one makes room for another`() async throws {
        let customer = try await api.customer()
        let id = try await api.job(by: customer)
        let events = try await follow(id, by: customer, in: api)
        _ = try await events.receive(until: "\"percent\"")
        #expect(try await api.get(Path.job(id) + "/events", by: customer).refusal == "503 overloaded")
        events.close()
        try await eventually("the place is free") { api.jobFeed.count == 0 }
        try await api.complete(id)
        #expect(try await api.get(Path.job(id) + "/events", by: customer).status == 200)
    }

    @Test(.api) func `only its user can follow a job`() async throws {
        let id = try await api.job(by: try await api.customer())
        #expect(try await api.get(Path.job(id) + "/events", by: try await api.customer("other")).refusal == "403 forbidden")
    }
}
