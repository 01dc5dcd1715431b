import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct AccountCredentialsTests {
    private func code(_ body: () async throws -> Void) async -> HeliographError.Code? {
        await #expect(throws: HeliographError.self) { try await body() }?.code
    }

    private func states(_ fixture: ClientFixture, _ count: Int) async -> [AccountCredentials.SignInState] {
        var states: [AccountCredentials.SignInState] = []
        for await state in await fixture.client.credentials.states() {
            states.append(state)
            if states.count == count { break }
        }
        return states
    }

    @Test func `a request of the account needs a sign-in`() async throws {
        let fixture = try ClientFixture([.success(.json("{}"))])
        #expect(await code { _ = try await fixture.client.send(ClientFixture.account()) } == .signedOut)
        #expect(fixture.transport.sent.isEmpty)
        var request = ClientFixture.account()
        request.bearer = .accountIfSignedIn
        _ = try await fixture.client.send(request)
        #expect(fixture.transport.sent[0].headers["authorization"] == nil)
    }

    @Test func `a request of the account has its token, and one with another bearer has that`() async throws {
        let fixture = try ClientFixture([.success(.json("{}")), .success(.json("{}")), .success(.json("{}"))])
        try await fixture.client.credentials.signIn(.pair(1))
        var request = ClientFixture.account()
        for bearer in [APIRequest<String>.Bearer.account, .accountIfSignedIn, .token("other")] {
            request.bearer = bearer
            _ = try await fixture.client.send(request)
        }
        #expect(fixture.transport.sent.map { $0.headers["authorization"] } == ["Bearer A1", "Bearer A1", "Bearer other"])
    }

    @Test func `a sign-in outlives the process`() async throws {
        let first = try ClientFixture([])
        try await first.client.credentials.signIn(.pair(1))
        let second = try ClientFixture(ScriptedTransport([]), in: first.folder)
        let session = try #require(try await second.client.credentials.session())
        #expect(session.accessToken == "A1" && session.userID == "U")
        #expect(session.expiresAt == first.time.now + 3600)
    }

    @Test func `an expired token is renewed before it is used`() async throws {
        let fixture = try ClientFixture([.success(.tokens(2)), .success(.json("{}"))])
        try await fixture.client.credentials.signIn(.pair(1, expiresIn: 3600))
        fixture.time.pass(3571)
        _ = try await fixture.client.send(ClientFixture.account())
        let sent = fixture.transport.sent
        #expect(sent.map(\.url.path) == ["/base/api/v1/auth/refresh", "/base/v1/me"])
        #expect(
            sent[0].method == "POST" && sent[0].body == .data(Data(#"{"refresh_token":"R1"}"#.utf8))
                && sent[0].headers["authorization"] == nil)
        #expect(sent[0].timeout == .seconds(10) && sent[1].headers["authorization"] == "Bearer A2")
    }

    @Test func `a token that is still good is used when it cannot be renewed`() async throws {
        let lost = Result<TransportResponse, TransportError>.failure(TransportError(.notConnected, ""))
        let fixture = try ClientFixture([lost, lost, lost, .success(.json("{}")), lost, lost, lost])
        try await fixture.client.credentials.signIn(.pair(1, expiresIn: 3600))
        fixture.time.pass(3571)
        _ = try await fixture.client.send(ClientFixture.account())
        #expect(fixture.transport.sent.last?.headers["authorization"] == "Bearer A1")
        fixture.time.pass(30)
        #expect(await code { _ = try await fixture.client.send(ClientFixture.account()) } == .unreachable)
    }

    @Test func `a refused token is renewed once, and the request sent once more`() async throws {
        let refused = Result<TransportResponse, TransportError>.success(.failure(401, "unauthorized"))
        let fixture = try ClientFixture([refused, .success(.tokens(2)), .success(.json("done"))])
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(60)
        let key = UUID()
        #expect(try await fixture.client.send(ClientFixture.account("POST", key: key)) == "done")
        let sent = fixture.transport.sent
        #expect(sent.map { $0.headers["authorization"] } == ["Bearer A1", nil, "Bearer A2"])
        #expect(sent[0].headers["x-request-id"] == sent[2].headers["x-request-id"])
    }

    @Test func `a request that is refused again is an error, and keeps the sign-in`() async throws {
        let refused = Result<TransportResponse, TransportError>.success(.failure(401, "unauthorized"))
        let fixture = try ClientFixture([refused, .success(.tokens(2)), refused, refused])
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(60)
        #expect(await code { _ = try await fixture.client.send(ClientFixture.account()) } == .unauthorized)
        // The tokens are new: another renewal would not help.
        #expect(await code { _ = try await fixture.client.send(ClientFixture.account()) } == .unauthorized)
        #expect(fixture.transport.sent.count == 4)
        #expect(try await fixture.client.credentials.session()?.accessToken == "A2")
    }

    @Test func `many requests with one refused token renew it once`() async throws {
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.path.hasSuffix("refresh") { return .tokens(2) }
            return request.headers["authorization"] == "Bearer A2" ? .json("done") : .failure(401, "unauthorized")
        }
        let fixture = try ClientFixture(transport)
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(60)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<30 { group.addTask { try await fixture.client.send(ClientFixture.account()) } }
            for try await answer in group { #expect(answer == "done") }
        }
        #expect(transport.sent.filter { $0.url.path.hasSuffix("refresh") }.count == 1)
    }

    @Test func `a refused renewal ends the sign-in once`() async throws {
        let fixture = try ClientFixture(ScriptedTransport { _ throws(TransportError) in .failure(401, "unauthorized") })
        let listener = Task { await states(fixture, 3) }
        await until { await fixture.client.credentials.listenerCount > 0 }
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(60)
        await withTaskGroup(of: HeliographError.Code?.self) { group in
            for _ in 0..<10 { group.addTask { await code { _ = try await fixture.client.send(ClientFixture.account()) } } }
            for await code in group { #expect(code == .signedOut) }
        }
        #expect(await listener.value == [.signedOut, .signedIn(userID: "U"), .lost])
        #expect(fixture.transport.sent.filter { $0.url.path.hasSuffix("refresh") }.count == 1)
        // After a restart, too.
        #expect(await states(try ClientFixture(ScriptedTransport([]), in: fixture.folder), 1) == [.lost])
    }

    @Test(arguments: [
        TransportResponse(status: 401, body: Data("<html>".utf8)), .failure(401, "other"), .failure(500, "internal", retryable: true),
        .failure(429, "rate_limited", retryable: true, retryAfter: 5), .json("{}"), TransportResponse(status: 302),
    ])
    func `an answer that does not refuse the refresh token keeps the sign-in`(answer: TransportResponse) async throws {
        let fixture = try ClientFixture(
            ScriptedTransport { request throws(TransportError) in
                request.url.path.hasSuffix("refresh") ? answer : .failure(401, "unauthorized")
            })
        try await fixture.client.credentials.signIn(.pair(1))
        fixture.time.pass(60)
        #expect(await code { _ = try await fixture.client.send(ClientFixture.account()) } != .signedOut)
        #expect(try await fixture.client.credentials.session()?.refreshToken == "R1")
    }

    @Test func `a damaged record is a lost sign-in, and the next sign-in replaces it`() async throws {
        let fixture = try ClientFixture([])
        try await fixture.store.update { $0 = Data("{".utf8) }
        #expect(await states(fixture, 1) == [.lost])
        try await fixture.client.credentials.signIn(.pair(1))
        #expect(await states(fixture, 1) == [.signedIn(userID: "U")])
    }

    @Test func `a record that cannot be read is an error, and no sign-out`() async throws {
        let fixture = try ClientFixture([])
        try FileManager.default.createDirectory(
            at: fixture.folder.url.appendingPathComponent("credentials"), withIntermediateDirectories: true)
        #expect(await code { _ = try await fixture.client.send(ClientFixture.account()) } == .storage)
    }

    @Test func `a sign-out ends the sign-in that it names, and no other`() async throws {
        let fixture = try ClientFixture([])
        let first = try await fixture.client.credentials.signIn(.pair(1))
        let second = try await fixture.client.credentials.signIn(.pair(2))
        #expect(try await fixture.client.credentials.signOut(first.id) == nil)
        #expect(try await fixture.client.credentials.session() == second)
        #expect(try await fixture.client.credentials.signOut() == second)
        #expect(try await fixture.client.credentials.session() == nil)
        #expect(try await fixture.client.credentials.signOut() == nil)
        #expect(await states(fixture, 1) == [.signedOut])
    }
}
