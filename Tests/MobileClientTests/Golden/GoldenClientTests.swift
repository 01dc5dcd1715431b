import Foundation
import Testing

@testable import MobileClient

/// The client speaks as `Tests/Golden/http` says, which the tests of identity-api hold the server to.
@Suite struct GoldenClientTests {
    private static let exchanges =
        GoldenExchange.auth + GoldenExchange.account + GoldenExchange.erasures + GoldenExchange.people + GoldenExchange.members
        + GoldenExchange.lists + GoldenExchange.messages + GoldenExchange.templates + GoldenExchange.jobs + GoldenExchange.phones
        + GoldenExchange.sessions
    /// The exchanges of the other tests of this suite.
    private static let others: Set<String> = ["receipts-record", "receipts-invalid", "auth-refresh", "auth-refresh-unauthorized"]

    @Test(arguments: exchanges)
    func `the request is the golden one, and the response is understood`(_ exchange: GoldenExchange) throws {
        try exchange.check(try GoldenFile(exchange.name), #_sourceLocation)
    }

    @Test func `no golden exchange is left out`() throws {
        let names = Self.exchanges.map(\.name) + GoldenUploadTests.names + Self.others
        #expect(Set(names).count == names.count)
        #expect(try GoldenFile.names.subtracting(names).isEmpty)
        #expect(try Set(names).isSubset(of: GoldenFile.names))
    }

    @Test func `receipts are sent, and the answer to faulty ones names the first`() throws {
        let id = GoldenFile.id("notification").wireText
        let receipts = try [PushReceipt.Event.delivered, .opened].map { event in
            try #require(PushReceipt(.notification, id, event, at: GoldenFile.time.timeIntervalSince1970))
        }
        let golden = try GoldenFile("receipts-record")
        let request = ReceiptRequests.record(receipts)
        try GoldenRequestCheck.check(request, golden, makesKey: false, #_sourceLocation)
        #expect(try request.decode(golden.response) == ReceiptRequests.Counts(received: 2, counted: 2))
        let error = HeliographError(try GoldenFile("receipts-invalid").response, requestID: "none", now: GoldenFile.time)
        #expect(error.code == .invalidRequest && error.field == "[0].event")
    }

    /// What becomes of a refresh token, after the request is held to the golden one.
    private func renew(_ name: String) async throws -> TokenRenewal.Answer {
        let golden = try GoldenFile(name)
        let transport = ScriptedTransport([.success(golden.response)])
        let configuration = try ClientConfiguration(
            baseURL: try #require(URL(string: "https://api.example.org")), appVersion: "1", locale: "en", folder: GoldenFile.folder)
        let exchange = TokenExchange(builder: RequestBuilder(configuration: configuration), transport: transport, time: .system)
        let answer = await exchange.renew("token-refresh", timeout: .seconds(10))
        let sent = try #require(transport.sent.first)
        #expect(sent.method == golden.method && sent.url.absoluteString == "https://api.example.org" + golden.path)
        #expect(sent.headers["Content-Type"] == golden.headers["Content-Type"] && sent.headers["Authorization"] == nil)
        guard case .data(let body) = sent.body else { throw HeliographError(.internal, "A refresh has a body") }
        #expect(try JSONSerialization.jsonObject(with: body) as? NSObject == golden.body)
        return answer
    }

    @Test func `tokens are renewed, and a refused token ends the sign-in`() async throws {
        guard case .tokens(let tokens) = try await renew("auth-refresh"), case .refused = try await renew("auth-refresh-unauthorized")
        else {
            Issue.record("the responses are not understood")
            return
        }
        #expect(tokens.accessToken == GoldenFile.token && tokens.refreshToken == GoldenFile.token)
        #expect(tokens.expiresIn == GoldenFile.seconds && tokens.userID == GoldenFile.id().wireText)
    }

    @Test(arguments: [("image-job-events-completed", "completed"), ("image-job-events-failed", "failed")])
    func `the progress of a job is events of text`(name: String, status: String) throws {
        var parser = EventStreamParser()
        let text = String(decoding: try GoldenFile(name).response.body, as: UTF8.self)
        let events = try text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { try parser.append(String($0)) }
        #expect(events.map(\.name) == ["state"])
        let data = try #require(try JSONSerialization.jsonObject(with: Data(events[0].data.utf8)) as? [String: Any])
        #expect(data["status"] as? String == status && data["job_id"] as? String == GoldenFile.id("job").wireText)
    }
}
