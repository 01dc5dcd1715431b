internal import Foundation
internal import MobileClient
internal import Synchronization

/// One process of the app that runs on a phone, written as an app on MobileClient is: it uses its public API alone.
final class AppProcess: Sendable {
    let phone: Phone
    let incarnation: Incarnation
    let client: HeliographClient
    private let down = Mutex(1.0)
    /// The sessions that are followed.
    let followed = Mutex<Set<UUID>>([])

    init(_ phone: Phone, _ incarnation: Incarnation) throws {
        self.phone = phone
        self.incarnation = incarnation
        let configuration = try ClientConfiguration(
            baseURL: phone.world.addresses.api, appVersion: "1.0", locale: "en", folder: incarnation.folder,
            allowsInsecureHTTP: true)
        let transport = FaultyTransport(
            base: phone.world.transport(of: phone.index), incarnation: incarnation, network: phone.network, watch: Self.watch(phone))
        client = HeliographClient(
            configuration: configuration, storage: ClientStorage(files: incarnation.folder, keys: phone.hardware),
            handlers: Self.handlers(phone, incarnation),
            firebase: phone.plan.kind == .firebase ? Self.provider(phone, incarnation) : nil, transport: transport,
            time: phone.clock.time(of: incarnation))
    }

    /// The seconds after the end of this process until the next one.
    var downTime: Double { down.withLock { $0 } }

    func plan(downTime: Double) { down.withLock { $0 = downTime } }

    /// Runs the app beside the caller: its tasks end with the process, which is to say never.
    func begin() { Task { await self.run() } }

    /// Passes an event of the system to the app. Also returns when the process ends meanwhile.
    func tell(_ body: @escaping @Sendable (HeliographClient) async -> Void) async {
        await untilEnd { await body(self.client) }
    }

    /// Waits for a work of the app, or for the end of the process.
    func untilEnd(_ work: @escaping @Sendable () async -> Void) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            await work()
            end.yield()
        }
        Task {
            await incarnation.ended()
            end.yield()
        }
        for await _ in ends { return }
    }

    // MARK: What is handed to the client

    private static func handlers(_ phone: Phone, _ incarnation: Incarnation) -> PushHandlers {
        var handlers = PushHandlers()
        handlers.badge = { [weak phone] number in
            guard incarnation.isAlive, number < 0 else { return }
            phone?.violate(.badge, "The badge is \(number)")
        }
        return handlers
    }

    /// Gives the ID tokens of the person signed in with Firebase, as Firebase's SDK does.
    private static func provider(_ phone: Phone, _ incarnation: Incarnation) -> FirebaseTokenProvider {
        { [weak phone] forceRefresh in
            guard let phone else { throw CancellationError() }
            let (subject, kept) = phone.memory.withLock { ($0.firebase, $0.idToken) }
            guard let subject else { throw EmulatorControl.Failure(description: "No person is signed in with Firebase") }
            if !forceRefresh, let kept, kept.until > .now { return kept.text }
            let token = try await phone.world.emulator.idToken(of: subject)
            guard await incarnation.pass(.step) else { throw CancellationError() }
            phone.memory.withLock { memory in
                if memory.firebase == subject { memory.idToken = (token, .now + .seconds(3_000)) }
            }
            return token
        }
    }

    private static func watch(_ phone: Phone) -> FaultyTransport.Watch {
        var watch = FaultyTransport.Watch()
        watch.fault = { [weak phone] kind, request in
            phone?.world.measurements.count(kind)
            phone?.note("\(kind.rawValue): \(request.method) \(request.url.path)")
        }
        watch.answer = { [weak phone] request, answer in
            guard let phone else { return }
            phone.world.measurements.change { $0.requests += 1 }
            let trigger = request.headers["X-Client-Trigger"]
            phone.note("\(request.method) \(request.url.path)\(trigger.map { " (\($0))" } ?? "") gets \(answer.status)")
            guard let trigger = trigger.flatMap(Measurements.Trigger.init), answer.status == 200 else { return }
            phone.state.withLock { $0.triggers[request.url.lastPathComponent] = trigger }
        }
        watch.failure = { [weak phone] request, error in
            phone?.note("\(request.method) \(request.url.path) has no answer: \(error.code.rawValue)")
        }
        return watch
    }
}
