import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct APIClientEventsTests {
    private let request = APIRequest<Void>(method: "GET", path: "/v1/events", bearer: .none) { _ in }

    private func events(_ fixture: ClientFixture, atMost count: Int = .max) async throws -> [String] {
        let events = Locked<[String]>([])
        try await fixture.client.events(request) { name, data in
            events.withLock {
                $0.append("\(name) \(data)")
                return $0.count < count
            }
        }
        return events.withLock { $0 }
    }

    @Test func `events are handed on until they end`() async throws {
        let fixture = try ClientFixture([.success(.json("event: state\ndata: 1\n\n: here\n\ndata: 2\n\n"))])
        #expect(try await events(fixture) == ["state 1", "message 2"])
        #expect(fixture.transport.sent[0].headers["accept"] == "text/event-stream")
    }

    @Test func `a reader that has enough gets no more`() async throws {
        let fixture = try ClientFixture([.success(.json("data: 1\n\ndata: 2\n\ndata: 3\n\n"))])
        #expect(try await events(fixture, atMost: 2) == ["message 1", "message 2"])
    }

    @Test(arguments: [TransportResponse(status: 429), TransportResponse(status: 502), .json("data: 1\n\nCUT")])
    func `a stream that is refused or breaks is not asked for again`(answer: TransportResponse) async throws {
        let fixture = try ClientFixture([.success(answer), .success(.json("data: 1\n\n"))])
        await #expect(throws: HeliographError.self) { try await events(fixture) }
        #expect(fixture.transport.sent.count == 1)
    }

    @Test func `an event that is too long is an error`() async throws {
        let line = "data: \(String(repeating: "a", count: 1 << 19))\n"
        let fixture = try ClientFixture([.success(.json(line + line + line + "\n"))])
        let error = await #expect(throws: HeliographError.self) { try await events(fixture) }
        #expect(error?.code == .unexpectedAnswer)
    }
}
