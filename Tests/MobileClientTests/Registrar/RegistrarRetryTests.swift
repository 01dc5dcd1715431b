import Foundation
import Testing

@testable import MobileClient

extension HeliographError {
    fileprivate static let offline = HeliographError(.unreachable, "there is no network", isRetryable: true)
}

@Suite struct RegistrarRetryTests {
    private let bench: RegistrarBench

    init() throws { bench = try RegistrarBench() }

    private func hasToken(_ token: String, _ signIn: String) async -> Bool {
        await bench.devices.server.holder == .init(token: token, signIn: signIn)
    }

    @Test func `a registration is repeated with growing waits while the API is not reached`() async {
        await bench.devices.fail(.offline, .offline, .offline)
        let registrar = bench.process()
        await registrar.tokenChanged("t1")
        await bench.signIn("s1", user: "ada", registrar)
        for (count, seconds) in [(1, 1), (2, 2), (3, 4)] {
            await bench.time.waitForSleepers()
            bench.time.advance(by: .seconds(seconds))
            await until { await bench.devices.requests.count == count + 1 }
        }
        await until { await hasToken("t1", "s1") }
        #expect(bench.waits.withLock { $0 } == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test func `a network that comes back ends the wait, and a time that the API has named is waited for`() async {
        await bench.devices.fail(.offline, HeliographError(.rateLimited, "slower", status: 429, retryAfter: .seconds(60)))
        let registrar = bench.process()
        await registrar.tokenChanged("t1")
        await bench.signIn("s1", user: "ada", registrar)
        await bench.time.waitForSleepers()
        for isOnline in [false, true] { await registrar.networkChanged(isOnline: isOnline) }
        await until { await bench.devices.requests.count == 2 }
        await bench.time.waitForSleepers()
        for isOnline in [false, true] { await registrar.networkChanged(isOnline: isOnline) }
        #expect(await bench.isIdle(registrar))
        #expect(bench.waits.withLock { $0 } == [.seconds(1), .seconds(62)])
        bench.time.advance(by: .seconds(62))
        await until { await hasToken("t1", "s1") }
    }

    @Test func `a refused token is tried again after six hours, and another one at once`() async {
        let refusal = HeliographError(.invalidRequest, "that is no token", status: 400)
        await bench.devices.fail(refusal, refusal)
        let registrar = bench.process()
        await registrar.tokenChanged("bad")
        await bench.signIn("s1", user: "ada", registrar)
        await bench.time.waitForSleepers()
        #expect(bench.waits.withLock { $0 } == [.seconds(6 * 3_600)])
        bench.time.advance(by: .seconds(6 * 3_600))
        await until { await bench.devices.requests.count == 2 }
        await registrar.tokenChanged("t1")
        await until { await hasToken("t1", "s1") }
    }
}
