import Foundation
import Testing

@testable import MobileClient

/// Accounts that follow each other on an installation.
@Suite struct RegistrarAccountTests {
    private let bench: RegistrarBench

    init() throws { bench = try RegistrarBench() }

    @Test func `the late answer for a former account changes nothing`() async throws {
        let registrar = bench.process()
        await registrar.tokenChanged("t1")
        await bench.devices.hold()
        await bench.signIn("s1", user: "ada", registrar)
        await until { await bench.devices.heldRequests == 1 }
        async let result = registrar.signOut()
        await until { await bench.devices.heldRequests == 2 }
        await bench.devices.release()
        let isKnown = try await result
        #expect(isKnown)
        await until { await bench.hasFirstEnded }
        #expect(bench.folder.files.isEmpty)
    }

    @Test func `the next account has the token, also when the sign-out before was not heard of`() async throws {
        let registrar = await bench.registered()
        await bench.devices.fail(HeliographError(.unreachable, "there is no network"))
        #expect(try await !registrar.signOut())
        await bench.signIn("s2", user: "ben", registrar)
        // The first account has the installation until the nonce is returned.
        await until { await bench.devices.nonces == ["h1"] }
        await registrar.nonceArrived(handOverID: "h1", nonce: "n")
        await until { await bench.devices.server.holder == .init(token: "t1", signIn: "s2") }
        await bench.eventually { await bench.hasFirstEnded }
        #expect(await bench.devices.server.holder == .init(token: "t1", signIn: "s2"))
    }

    @Test func `a process that was launched on a locked device follows the sign-in once it is in use`() async {
        await bench.devices.begin("s1", user: "ada")
        let registrar = bench.process()
        await registrar.tokenChanged("t1")
        await bench.signIns.begin("s1")
        await registrar.becameActive()
        await until { await bench.devices.server.holder == .init(token: "t1", signIn: "s1") }
    }

    @Test func `a sign-in that the API has revoked leaves no record`() async {
        let registrar = await bench.registered()
        await bench.signIns.revoke()
        await registrar.credentialsChanged()
        #expect(bench.folder.files.isEmpty)
        #expect(await bench.signIns.log.isEmpty)
    }
}
