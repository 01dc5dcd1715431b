import Foundation
import Testing

@testable import MobileClient

@Suite(.timeLimit(.minutes(5))) struct FirebaseTests {
    private struct Offline: Error {}

    @Test func `the app's token is used, and asked for anew once after a refusal`() async throws {
        let asked = Locked<[Bool]>([])
        let fixture = try ClientFixture(
            ScriptedTransport { request throws(TransportError) in
                request.headers["authorization"] == "Bearer new" ? .json("done") : .failure(401, "unauthorized")
            },
            firebase: { force in
                asked.withLock { $0.append(force) }
                return force ? "new" : "old"
            })
        #expect(try await fixture.client.send(ClientFixture.account()) == "done")
        #expect(asked.withLock { $0 } == [false, true])
        #expect(fixture.transport.sent.map { $0.headers["authorization"] } == ["Bearer old", "Bearer new"])
        #expect(fixture.folder.files == [])
    }

    @Test func `a token that is refused twice is an error`() async throws {
        let fixture = try ClientFixture(
            ScriptedTransport { _ throws(TransportError) in .failure(401, "unauthorized") }, firebase: { _ in "x" })
        let error = await #expect(throws: HeliographError.self) { try await fixture.client.send(ClientFixture.account()) }
        #expect(error?.code == .unauthorized && fixture.transport.sent.count == 2)
    }

    @Test func `a provider without a person is a sign-out, and one that fails may succeed later`() async throws {
        let signedOut = HeliographError(.signedOut, "no person is signed in")
        let cases: [(any Error, HeliographError.Code, Bool)] = [
            (signedOut, .signedOut, false), (Offline(), .unreachable, true), (CancellationError(), .cancelled, false),
        ]
        for (failure, code, isRetryable) in cases {
            let fixture = try ClientFixture(ScriptedTransport([]), firebase: { _ in throw failure })
            let error = await #expect(throws: HeliographError.self) { try await fixture.client.send(ClientFixture.account()) }
            #expect(error?.code == code && error?.isRetryable == isRetryable && fixture.transport.sent.isEmpty)
        }
    }

    @Test func `the phone is named in requests of the account`() async throws {
        let fixture = try ClientFixture(ScriptedTransport { _ throws(TransportError) in .json("{}") }, firebase: { _ in "x" })
        fixture.client.setInstallation("fid")
        _ = try await fixture.client.send(ClientFixture.account())
        _ = try await fixture.client.send(ClientFixture.get())
        #expect(fixture.transport.sent.map { $0.headers["x-firebase-installation-id"] } == ["fid", nil])
    }

    @Test(arguments: ["", "a\r\nX-Injected: 1", "a\0b"])
    func `a name of the phone that no header allows keeps no request from being sent`(name: String) async throws {
        let fixture = try ClientFixture(ScriptedTransport { _ throws(TransportError) in .json("{}") }, firebase: { _ in "x" })
        fixture.client.setInstallation("fid")
        fixture.client.setInstallation(name)
        _ = try await fixture.client.send(ClientFixture.account())
        #expect(fixture.transport.sent.map { $0.headers["x-firebase-installation-id"] } == [nil])
    }

    @Test func `the app signs in with Firebase, and not here`() async throws {
        let fixture = try ClientFixture(ScriptedTransport([]), firebase: { _ in "x" })
        let error = await #expect(throws: HeliographError.self) { try await fixture.client.credentials.signIn(.pair(1)) }
        #expect(error?.code == .invalidArgument)
    }
}
