import Foundation
import Testing

@testable import MobileClient

/// Sign-ins that are bound to the key of the phone.
@Suite(.timeLimit(.minutes(5))) struct ClientDeviceKeyTests {
    private let hardware = FakeHardware()
    private let bench: ClientBench

    init() throws { bench = try ClientBench(hardware) }

    private var boundKeys: [String?] { bench.api.contents.withLock { $0.signIns.map(\.deviceKey) } }

    private func signIn(_ client: HeliographClient) async throws -> EKYCSession.Outcome? {
        let session = try await client.ekyc.signIn(EKYCPhone.faces, email: "ada@example.org")
        return await bench.result { await session.result() }
    }

    @Test func `a sign-in by face is bound to the key, also across an end of the app, and is renewed with it`() async throws {
        let process = ClientProcess(bench)
        let client = try await bench.launch(process)
        #expect(try await signIn(client) == .signedIn(userID: "ada"))
        process.end()
        let next = try await bench.launch()
        bench.time.advance(by: .seconds(3_700))
        _ = await bench.result { try? await next.account.endOtherSignIns() }
        #expect(boundKeys.count == 1 && boundKeys[0] != nil && hardware.count == 1)
        #expect(bench.api.count("POST /api/v1/auth/refresh") == 1)
    }

    @Test func `a key that is lost between the upload and the tokens ends the sign-in, and the next one has another key`() async throws {
        let process = ClientProcess(bench)
        let client = try await bench.launch(process)
        bench.api.contents.withLock { $0.decidesSessions = false }
        let session = try await client.ekyc.signIn(EKYCPhone.faces, email: "ada@example.org")
        #expect(await bench.eventually { bench.api.count("GET /api/v1/ekyc/sessions") > 0 })
        process.end()
        hardware.loseKeys()
        bench.api.contents.withLock { $0.decidesSessions = true }
        let next = try await bench.launch()
        let pending = try #require(try await next.ekyc.pending().first { $0.id == session.id })
        #expect(await bench.result { await pending.result() } == .tooLate)
        #expect(bench.api.signedIn.isEmpty)
        #expect(try await signIn(next) == .signedIn(userID: "ada"))
    }

    @Test func `the loss of the key loses the sign-in, and the person signs in again`() async throws {
        let process = ClientProcess(bench)
        #expect(try await signIn(try await bench.launch(process)) == .signedIn(userID: "ada"))
        process.end()
        hardware.loseKeys()
        let next = try await bench.launch()
        bench.time.advance(by: .seconds(3_700))
        _ = await bench.result { try? await next.account.profile() }
        #expect(try await next.credentials.session() == nil)
        #expect(try await signIn(next) == .signedIn(userID: "ada"))
        #expect(Set(boundKeys).count == 2)
    }

    @Test func `two sign-ins at once have one key, and the later one stays`() async throws {
        let client = try await bench.launch()
        let first = try await client.ekyc.signIn(EKYCPhone.faces, email: "ada@example.org")
        #expect(try await signIn(client) == .signedIn(userID: "ada"))
        #expect(await bench.result { await first.result() } == .superseded)
        await bench.settle()
        #expect(bench.api.signedIn == ["ada"] && Set(boundKeys).count == 1 && hardware.count == 1)
    }
}
