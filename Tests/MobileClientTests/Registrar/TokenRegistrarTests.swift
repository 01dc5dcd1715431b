import Foundation
import Testing

@testable import MobileClient

@Suite struct TokenRegistrarTests {
    private let bench: RegistrarBench

    init() throws { bench = try RegistrarBench() }

    private func hasToken(_ token: String, _ signIn: String) async -> Bool {
        await bench.devices.server.holder == .init(token: token, signIn: signIn)
    }

    @Test func `a token that comes before the sign-in is registered at it, with the facts about the app`() async {
        _ = await bench.registered()
        #expect(
            await bench.devices.requests == [
                #"POST /v1/users/device-token {"app_version":"1.2","device_token":"t1","locale":"de-CH","platform":"ios"}"#
            ])
        #expect(await hasToken("t1", "s1"))
    }

    @Test func `nothing is sent while nothing changes, in this process and the next`() async {
        let registrar = await bench.registered()
        await registrar.tokenChanged("t1")
        await registrar.becameActive()
        let next = bench.process()
        await next.start()
        await next.tokenChanged("t1")
        #expect(await bench.isIdle(registrar))
        #expect(await bench.isIdle(next))
        #expect(await bench.devices.requests.count == 1)
    }

    @Test func `the file has no token in it`() async throws {
        _ = await bench.registered()
        let text = try String(contentsOf: bench.file, encoding: .utf8)
        #expect(text.contains("fingerprint") && !text.contains("t1"))
        #expect(bench.folder.files == ["registrar/registration.json"])
    }

    @Test func `a new token and a new language are registered`() async {
        let language = Locked(false)
        let registrar = await bench.registered(bench.process(locale: { language.withLock { $0 } ? "fr" : "de" }))
        await registrar.tokenChanged("t2", platform: .android)
        await until { await hasToken("t2", "s1") }
        language.withLock { $0 = true }
        await registrar.becameActive()
        await until { await bench.devices.requests.count == 3 }
        let last = await bench.devices.requests.last
        #expect(last?.contains(#""locale":"fr","platform":"android""#) == true)
    }

    @Test func `a registration is repeated after seven days, and not after six`() async {
        let registrar = await bench.registered()
        bench.time.advance(by: .seconds(6 * 86_400))
        await registrar.becameActive()
        #expect(await bench.isIdle(registrar))
        bench.time.advance(by: .seconds(86_400))
        await registrar.becameActive()
        await until { await bench.devices.requests.count == 2 }
        let next = bench.process()
        bench.time.advance(by: .seconds(7 * 86_400))
        await next.tokenChanged("t1")
        await until { await bench.devices.requests.count == 3 }
    }

    @Test func `a file that cannot be understood counts as none`() async throws {
        _ = await bench.registered()
        for content in ["nonsense", #"{"version":2,"registration":{"signIn":"s1","fingerprint":"0","at":0}}"#] {
            try Data(content.utf8).write(to: bench.file)
            let count = await bench.devices.requests.count
            await bench.process().tokenChanged("t1")
            await until { await bench.devices.requests.count == count + 1 }
        }
    }

    @Test func `a text that is no token is not sent`() async {
        let registrar = bench.process()
        await bench.signIn("s1", user: "ada", registrar)
        for text in ["", "a b", "ü", String(repeating: "a", count: 4_097)] {
            await registrar.tokenChanged(text)
            #expect(await bench.isIdle(registrar))
        }
        #expect(await bench.devices.requests.isEmpty)
    }

    @Test func `a person who wants no pushes has no token, until they want them again`() async {
        let registrar = await bench.registered()
        await registrar.wantsPushes(false)
        await until { await bench.devices.server.holder == nil }
        #expect(await bench.devices.requests.last == "DELETE /v1/users/device-token")
        await registrar.wantsPushes(true)
        await until { await hasToken("t1", "s1") }
    }

    @Test func `a registration calls the handler for it`() async {
        let told = Locked(false)
        _ = await bench.registered(bench.process(onRegistered: { told.withLock { $0 = true } }))
        await until { told.withLock { $0 } }
    }
}
