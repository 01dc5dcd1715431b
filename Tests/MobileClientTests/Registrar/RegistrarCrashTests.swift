import Foundation
import Testing

@testable import MobileClient

/// The life of an installation, whose first process ends at each call of each of its ports.
@Suite struct RegistrarCrashTests {
    /// Runs the life once; returns the number of port calls of the first process.
    private func live(_ end: ProcessEnd) async throws -> Int {
        let bench = try RegistrarBench()
        let first = bench.process(end)
        await first.start()
        await first.tokenChanged("t1")
        await signIn("s1", user: "ada", first, bench, end)
        await first.tokenChanged("t2")
        await settle(bench, end) { await bench.devices.server.holder == .init(token: "t2", signIn: "s1") }
        _ = try? await first.signOut()
        await signIn("s2", user: "ben", first, bench, end)
        await settle(bench, end) { RegistrationFile(url: bench.file).load()?.signIn == "s2" }
        let calls = end.calls

        let next = bench.process()
        await next.start()
        await next.tokenChanged("t2")
        await bench.eventually {
            for nonce in await bench.devices.nonces { await next.nonceArrived(handOverID: nonce, nonce: "n") }
            let (current, holder) = (await bench.signIns.current, await bench.devices.server.holder)
            guard await bench.signIns.retired.isEmpty else { return false }
            guard let current else { return holder == nil }
            return holder == .init(token: "t2", signIn: current) && RegistrationFile(url: bench.file).load()?.signIn == current
        }
        let server = await bench.devices.server
        for signIn in ["s1", "s2"] where await bench.signIns.current != signIn { #expect(!server.isAlive(signIn)) }
        if await bench.signIns.current == nil { #expect(RegistrationFile(url: bench.file).load() == nil) }
        return calls
    }

    /// Signs a person in, unless the process has ended.
    private func signIn(_ id: String, user: String, _ registrar: TokenRegistrar, _ bench: RegistrarBench, _ end: ProcessEnd) async {
        guard end.call().hasEffect else { return }
        await bench.devices.begin(id, user: user)
        await bench.signIns.begin(id)
        if !end.hasEnded { await registrar.signedIn() }
    }

    private func settle(_ bench: RegistrarBench, _ end: ProcessEnd, _ condition: @Sendable () async -> Bool) async {
        await bench.eventually {
            if end.hasEnded { return true }
            return await condition()
        }
    }

    @Test func `whatever call a process ends at, the next one brings the token to the account that is signed in`() async throws {
        let calls = try await live(ProcessEnd())
        #expect(calls > 25)
        for last in 1...calls {
            for isHandled in [false, true] { _ = try await live(ProcessEnd(at: last, isHandled: isHandled)) }
        }
    }
}
