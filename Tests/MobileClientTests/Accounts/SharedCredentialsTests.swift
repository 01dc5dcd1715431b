import Foundation
import Testing

@testable import MobileClient

/// App and extension with one store, and requests that wait until the test lets them go.
@Suite(.timeLimit(.minutes(5))) struct SharedCredentialsTests {
    /// A transport whose refreshes wait for the test.
    private struct Gate {
        let transport: ScriptedTransport
        let arrivals: AsyncStream<Void>
        let open: AsyncStream<TransportResponse>.Continuation

        init() {
            let (arrivals, arrive) = AsyncStream.makeStream(of: Void.self)
            let (answers, open) = AsyncStream.makeStream(of: TransportResponse.self)
            (self.arrivals, self.open) = (arrivals, open)
            transport = ScriptedTransport { request throws(TransportError) in
                guard request.url.path.hasSuffix("refresh") else {
                    let token = request.headers["authorization"] ?? ""
                    return token == "Bearer A1" ? .failure(401, "unauthorized") : .json(token)
                }
                arrive.yield()
                for await answer in answers { return answer }
                throw TransportError(.cancelled, "")
            }
        }

        func waitForRefresh() async { for await _ in arrivals { return } }
    }

    private func signedIn(_ gate: Gate, in folder: TemporaryFolder? = nil) async throws -> ClientFixture {
        let fixture = try ClientFixture(gate.transport, in: folder)
        if folder == nil { try await fixture.client.credentials.signIn(.pair(1)) }
        fixture.time.pass(60)
        return fixture
    }

    @Test func `the tokens that the extension has renewed are used by the app`() async throws {
        let (app, appExtension) = (Gate(), Gate())
        let first = try await signedIn(app)
        let second = try await signedIn(appExtension, in: first.folder)
        let request = Task { try await second.client.send(ClientFixture.account()) }
        await appExtension.waitForRefresh()
        appExtension.open.yield(.tokens(2))
        #expect(try await request.value == "Bearer A2")
        #expect(try await first.client.send(ClientFixture.account()) == "Bearer A2")
        #expect(app.transport.sent.count == 1)
    }

    @Test func `while the extension renews tokens the app waits for them`() async throws {
        let (app, appExtension) = (Gate(), Gate())
        let time = ManualTime(Date(timeIntervalSince1970: 1_800_000_060))
        let first = try await signedIn(app)
        let second = APIClient(
            configuration: first.client.configuration, transport: appExtension.transport, credentials: first.store, time: time.source)
        let request = Task { try await first.client.send(ClientFixture.account()) }
        await app.waitForRefresh()
        let other = Task { try await second.send(ClientFixture.account()) }
        await time.waitForSleepers()
        app.open.yield(.tokens(2))
        #expect(try await request.value == "Bearer A2")
        time.advance(by: .seconds(1))
        #expect(try await other.value == "Bearer A2")
        #expect(!appExtension.transport.sent.contains { $0.url.path.hasSuffix("refresh") })
    }

    @Test func `a claim of a process that was ended does not hold for long`() async throws {
        let (app, appExtension) = (Gate(), Gate())
        let first = try await signedIn(app)
        let second = try await signedIn(appExtension, in: first.folder)
        let request = Task { try await first.client.send(ClientFixture.account()) }
        await app.waitForRefresh()
        // The time of the second jumps while it waits.
        let other = Task { try await second.client.send(ClientFixture.account()) }
        await appExtension.waitForRefresh()
        #expect(second.time.now.timeIntervalSince(first.time.now) == 15)
        appExtension.open.yield(.tokens(2))
        #expect(try await other.value == "Bearer A2")
        app.open.yield(.tokens(2))
        #expect(try await request.value == "Bearer A2")
    }

    @Test func `a sign-out during a renewal stays`() async throws {
        let gate = Gate()
        let fixture = try await signedIn(gate)
        let request = Task { try await fixture.client.send(ClientFixture.account()) }
        await gate.waitForRefresh()
        try await fixture.client.credentials.signOut()
        gate.open.yield(.tokens(2))
        let error = await #expect(throws: HeliographError.self) { try await request.value }
        #expect(error?.code == .signedOut)
        #expect(try await fixture.client.credentials.session() == nil)
    }

    @Test func `another sign-in during a renewal stays, and the former request is not sent with it`() async throws {
        let gate = Gate()
        let fixture = try await signedIn(gate)
        let request = Task { try await fixture.client.send(ClientFixture.account()) }
        await gate.waitForRefresh()
        try await fixture.client.credentials.signIn(.pair(7, userID: "V"))
        gate.open.yield(.tokens(2))
        let error = await #expect(throws: HeliographError.self) { try await request.value }
        #expect(error?.code == .signedOut)
        #expect(try await fixture.client.credentials.session()?.accessToken == "A7")
        #expect(!gate.transport.sent.contains { $0.headers["authorization"] == "Bearer A7" })
    }

    @Test func `a refusal of a former sign-in does not end another one`() async throws {
        let gate = Gate()
        let fixture = try await signedIn(gate)
        let request = Task { try await fixture.client.send(ClientFixture.account()) }
        await gate.waitForRefresh()
        try await fixture.client.credentials.signIn(.pair(7, userID: "V"))
        gate.open.yield(.failure(401, "unauthorized"))
        await #expect(throws: HeliographError.self) { try await request.value }
        #expect(try await fixture.client.credentials.session()?.userID == "V")
    }

    @Test func `a caller that is cancelled does not end the renewal`() async throws {
        let gate = Gate()
        let fixture = try await signedIn(gate)
        let request = Task { try await fixture.client.send(ClientFixture.account()) }
        await gate.waitForRefresh()
        request.cancel()
        let error = await #expect(throws: HeliographError.self) { try await request.value }
        #expect(error?.code == .cancelled)
        gate.open.yield(.tokens(2))
        #expect(try await fixture.client.send(ClientFixture.account()) == "Bearer A2")
        #expect(gate.transport.sent.filter { $0.url.path.hasSuffix("refresh") }.count == 1)
    }
}
