import Foundation
import Testing

@testable import MobileClient

/// An installation with its API, store of credentials, file and time, on which one process of the app runs after the other.
final class RegistrarBench: Sendable {
    let time = ManualTime()
    let folder: TemporaryFolder
    let devices = FakeDevices()
    let signIns = MemorySignIns()
    /// The waits that processes have begun, in their order.
    let waits = Locked<[Duration]>([])

    init() throws { folder = try TemporaryFolder() }

    var file: URL { folder.url.appending(path: "registrar/registration.json") }

    /// Starts a process.
    func process(
        _ end: ProcessEnd = ProcessEnd(), locale: @escaping @Sendable () -> String? = { "de_CH" },
        onRegistered: @escaping @Sendable () async -> Void = {}
    ) -> TokenRegistrar {
        let (devices, signIns, waits, source) = (devices, signIns, waits, time.source)
        let time = TimeSource(
            now: source.now,
            sleep: { duration in
                waits.withLock { $0.append(duration) }
                try await source.sleep(duration)
            })
        let sender = ScriptedSender { sent throws(HeliographError) in
            let call = end.call()
            guard call.hasEffect else { throw HeliographError(.cancelled, "the process has ended") }
            let answer = try await devices.serve(sent, by: await signIns.current)
            guard call.hasResult else { throw HeliographError(.cancelled, "the process has ended") }
            return answer
        }
        return TokenRegistrar(
            TokenRegistrar.Ports(
                sender: sender, signIns: GatedSignIns(signIns: signIns, devices: devices, end: end),
                file: RegistrationFile(url: file, operations: GatedFiles(end: end)), time: time, random: { 0 },
                appVersion: { "1.2" }, locale: locale, onRegistered: onRegistered))
    }

    /// A person signs in, and the app says so.
    func signIn(_ id: String, user: String, _ registrar: TokenRegistrar) async {
        await devices.begin(id, user: user)
        await signIns.begin(id)
        await registrar.signedIn()
    }

    /// Starts a process whose account has its token, and has recorded that.
    func registered(_ registrar: TokenRegistrar? = nil) async -> TokenRegistrar {
        let registrar = registrar ?? process()
        await registrar.tokenChanged("t1")
        await signIn("s1", user: "ada", registrar)
        await until { RegistrationFile(url: file).load() != nil }
        return registrar
    }

    /// Whether the first sign-in is over, at the API and on the phone.
    var hasFirstEnded: Bool {
        get async {
            let server = await devices.server
            return await signIns.retired.isEmpty && !server.isAlive("s1") && server.holder?.signIn != "s1"
        }
    }

    /// Whether a process has sent nothing that is not answered.
    func isIdle(_ registrar: TokenRegistrar) async -> Bool {
        let state = await registrar.runner().state
        return state.request == nil && state.logOut == nil
    }

    /// Lets hours pass until a condition holds.
    func eventually(_ condition: @Sendable () async -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
        let end = ContinuousClock.now + .seconds(300)
        var round = 0
        while ContinuousClock.now < end {
            if await condition() { return }
            round += 1
            if round % 200 == 0 { time.advance(by: .seconds(900)) }
            await Task.yield()
        }
        Issue.record("the condition does not come to hold", sourceLocation: sourceLocation)
    }
}
