import Foundation
import Testing

@testable import MobileClient

/// A device without space: what is kept can be read and removed, and not written.
@Suite(.timeLimit(.minutes(5))) struct FailingStoreTests {
    private func make(_ transport: ScriptedTransport) async throws -> (
        client: APIClient, store: FaultyStore, time: JumpingTime, folder: TemporaryFolder
    ) {
        let folder = try TemporaryFolder()
        let store = FaultyStore(
            store: FileCredentialStore(file: folder.url.appendingPathComponent("credentials")), fault: Locked(nil))
        let time = JumpingTime()
        let client = APIClient(
            configuration: try ClientConfiguration(
                baseURL: #require(URL(string: "https://a.example")), appVersion: "1", folder: folder.url),
            transport: transport, credentials: store, time: time.source)
        try await client.credentials.signIn(.pair(1))
        time.pass(60)
        return (client, store, time, folder)
    }

    @Test func `tokens that could not be kept are kept later, without another refresh`() async throws {
        let store = Locked<FaultyStore?>(nil)
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.path.hasSuffix("refresh") {
                store.withLock { $0 }?.fault.withLock { $0 = .full }
                return .tokens(2)
            }
            return request.headers["authorization"] == "Bearer A2" ? .json("done") : .failure(401, "unauthorized")
        }
        let fixture = try await make(transport)
        store.withLock { $0 = fixture.store }
        let error = await #expect(throws: HeliographError.self) { try await fixture.client.send(ClientFixture.account()) }
        #expect(error?.code == .storage && error?.isRetryable == true)
        fixture.store.fault.withLock { $0 = nil }
        #expect(try await fixture.client.send(ClientFixture.account()) == "done")
        #expect(transport.sent.filter { $0.url.path.hasSuffix("refresh") }.count == 1)
    }

    @Test func `nothing is sent when the claim cannot be kept`() async throws {
        let transport = ScriptedTransport { _ throws(TransportError) in .failure(401, "unauthorized") }
        let fixture = try await make(transport)
        fixture.store.fault.withLock { $0 = .full }
        let error = await #expect(throws: HeliographError.self) { try await fixture.client.send(ClientFixture.account()) }
        #expect(error?.code == .storage && !transport.sent.contains { $0.url.path.hasSuffix("refresh") })
    }

    @Test func `a sign-out needs no space`() async throws {
        let fixture = try await make(ScriptedTransport([]))
        fixture.store.fault.withLock { $0 = .full }
        #expect(try await fixture.client.credentials.signOut()?.accessToken == "A1")
        #expect(try await fixture.client.credentials.session() == nil)
        #expect(try await fixture.store.read() == nil)
    }

    @Test(arguments: [FaultyStore.Fault.locked, .unchangeable])
    func `a sign-out that cannot remove the tokens is an error, and the sign-in stays`(fault: FaultyStore.Fault) async throws {
        let fixture = try await make(ScriptedTransport([]))
        fixture.store.fault.withLock { $0 = fault }
        let error = await #expect(throws: HeliographError.self) { try await fixture.client.credentials.signOut() }
        #expect(error?.code == .storage && error?.isRetryable == true)
        fixture.store.fault.withLock { $0 = nil }
        #expect(try await fixture.client.credentials.session()?.accessToken == "A1")
    }

    @Test func `a sign-in that cannot be kept is an error`() async throws {
        let fixture = try await make(ScriptedTransport([]))
        fixture.store.fault.withLock { $0 = .full }
        let error = await #expect(throws: HeliographError.self) { try await fixture.client.credentials.signIn(.pair(2)) }
        #expect(error?.code == .storage)
        #expect(try await fixture.client.credentials.session()?.accessToken == "A1")
    }
}
