import Foundation
import Testing

@testable import MobileClient

@Suite struct RegistrarHandOverTests {
    private let bench: RegistrarBench

    init() throws { bench = try RegistrarBench() }

    /// A process with an account whose installation another account has not given up.
    private func pending() async -> TokenRegistrar {
        await bench.devices.begin("s0", user: "carl")
        await bench.devices.take("t1", "s0")
        let registrar = bench.process()
        await registrar.tokenChanged("t1")
        await bench.signIn("s1", user: "ada", registrar)
        await bench.time.waitForSleepers()
        return registrar
    }

    private var isHandedOver: Bool {
        get async {
            let holder = await bench.devices.server.holder
            return holder == .init(token: "t1", signIn: "s1") && RegistrationFile(url: bench.file).load() != nil
        }
    }

    private func count(_ path: String) async -> Int { await bench.devices.requests.count { $0.hasPrefix("POST \(path) ") } }

    @Test func `an installation is handed over by its nonce, which may come twice`() async {
        let registrar = await pending()
        for _ in 0..<2 { await registrar.nonceArrived(handOverID: "h1", nonce: "n") }
        await until { await isHandedOver }
        await registrar.nonceArrived(handOverID: "h1", nonce: "n")
        #expect(await bench.isIdle(registrar))
        #expect(
            await bench.devices.requests.last == #"POST /v1/users/device-token/confirm {"handover_id":"h1","nonce":"n"}"#)
        #expect(await bench.devices.requests.count == 2)
    }

    @Test func `a nonce that comes before the answer is returned after it`() async {
        await bench.devices.begin("s0", user: "carl")
        await bench.devices.take("t1", "s0")
        await bench.devices.hold()
        let registrar = bench.process()
        await registrar.tokenChanged("t1")
        await bench.signIn("s1", user: "ada", registrar)
        await until { await bench.devices.heldRequests == 1 }
        await registrar.nonceArrived(handOverID: "h1", nonce: "n")
        #expect(await count("/v1/users/device-token/confirm") == 0)
        await bench.devices.release()
        await until { await isHandedOver }
    }

    @Test func `a nonce that comes too late makes the app claim again`() async {
        let registrar = await pending()
        await bench.devices.fail(HeliographError(.notFound, "there is no such claim", status: 404))
        await registrar.nonceArrived(handOverID: "h1", nonce: "n")
        await until { await count("/v1/users/device-token") == 2 }
    }

    @Test func `a nonce that does not come is asked for again when the claim has ended`() async {
        let registrar = await pending()
        #expect(bench.waits.withLock { $0 } == [.seconds(600)])
        bench.time.advance(by: .seconds(600))
        await until { await count("/v1/users/device-token") == 2 }
        await registrar.becameActive()
    }

    @Test func `a nonce of a claim that no answer has named is returned, and the token registered`() async {
        let registrar = await pending()
        await bench.devices.fail(HeliographError(.notFound, "there is no such claim", status: 404))
        await registrar.nonceArrived(handOverID: "of-the-sign-in", nonce: "n")
        await until { await count("/v1/users/device-token/confirm") == 1 }
        await registrar.nonceArrived(handOverID: "h1", nonce: "n")
        await until { await isHandedOver }
    }

    @Test(arguments: [(-5, 30), (7, 30), (600, 600), (99_999, 3_600)])
    func `the time of a claim is bounded`(named: Int, seconds: Int) throws {
        let answer = TransportResponse.json(
            #"{"data":{"status":"pending","handover_id":"h1","expires_in":\#(named)}}"#, status: 202)
        let request = DeviceRequests.register(token: "t", platform: "ios", appVersion: nil, locale: nil)
        #expect(try request.decode(answer) == .pending(handOverID: "h1", expiresIn: .seconds(seconds)))
    }
}
