import Foundation

@testable import MobileClient

/// A phone with its folder and its network, on which processes of an app with a ``HeliographClient`` come and go.
final class ClientBench: Sendable {
    let folder: TemporaryFolder
    let time = ManualTime()
    let api = PhoneAPI()
    let notifier = RecordingNotifier()
    let isOffline = Locked(false)
    /// The paths of the streams that processes have asked for, in vain.
    let streams = Locked<[String]>([])
    /// The numbers that the icon has shown.
    let badges = Locked<[Int]>([])
    let scaler = FakeScaler()
    /// The phone's hardware for keys; nil for an app without keys.
    let hardware: FakeHardware?

    /// The clients of all processes: an app keeps its client.
    private let clients = Locked<[HeliographClient]>([])

    init(_ hardware: FakeHardware? = nil) throws {
        folder = try .inMemory()
        self.hardware = hardware
    }

    static let picture = Data([0xFF, 0xD8, 0xFF, 0xE0]) + Data("picture".utf8)

    /// The files that are left, without locks.
    var files: [String] { folder.files.filter { !$0.hasSuffix("lock") } }

    /// Makes the client of a process.
    func client(
        _ process: ClientProcess? = nil, uploads: (any BackgroundUploading)? = nil, storage: ClientStorage? = nil,
        firebase: FirebaseTokenProvider? = nil
    ) throws -> HeliographClient {
        let process = process ?? ClientProcess(self)
        let configuration = try ClientConfiguration(
            baseURL: URL(string: "https://api.example.org")!, appVersion: "1.0", locale: "en", folder: folder.url)
        var handlers = PushHandlers()
        handlers.badge = { [badges] number in badges.withLock { $0.append(number) } }
        let client = HeliographClient(
            configuration: configuration, storage: storage ?? ClientStorage(files: folder.url, keys: hardware), handlers: handlers,
            firebase: firebase, transport: process, time: process.source,
            device: .init(
                uploads: uploads ?? ForegroundUploads(transport: process, time: process.source), notifier: notifier, scaler: scaler))
        clients.withLock { $0.append(client) }
        return client
    }

    /// Releases what the processes keep, as an app does that drops its client.
    func release() { clients.withLock { $0 = [] } }

    /// Begins a process of the app, as an app does it.
    func launch(_ process: ClientProcess? = nil, uploads: (any BackgroundUploading)? = nil) async throws -> HeliographClient {
        let client = try client(process, uploads: uploads)
        try await client.start()
        await client.pushTokenChanged("phone")
        await client.enterForeground()
        return client
    }

    /// Begins a process of a person who is signed in, with the push token registered.
    func launch(as user: String, _ process: ClientProcess? = nil) async throws -> HeliographClient {
        let client = try await launch(process)
        try await client.parts.signIn(api.signIn(user, at: time.now))
        await eventually { self.api.installations["phone"] == user && self.files.contains("registration.json") }
        return client
    }

    /// Lets time pass until a condition holds; returns whether it does within a quarter of an hour.
    @discardableResult
    func eventually(_ condition: () async -> Bool) async -> Bool {
        for _ in 0...900 {
            // What reads or writes files gets real time as well, or requests would time out for it on a busy machine.
            let soonest = ContinuousClock.now + .milliseconds(4)
            repeat {
                for _ in 0..<1_000 {
                    if await condition() { return true }
                    await Task.yield()
                }
            } while ContinuousClock.now < soonest
            time.advance(by: .seconds(1))
        }
        return false
    }

    /// Lets what can go on without time go on. For what must not happen: what must happen is waited for by ``eventually(_:)`` or `until`.
    func settle() async { for _ in 0..<3_000 { await Task.yield() } }

    /// Waits for a result while time passes; nil when there is none.
    func result<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        let result = Locked<Value?>(nil)
        Task {
            let value = await body()
            result.withLock { $0 = value }
        }
        await eventually { result.withLock { $0 != nil } }
        return result.withLock { $0 }
    }

    /// Reads the updates of a process's orders; returns the ends that it gets.
    func ends(of client: HeliographClient) -> Locked<[JobUpdate]> {
        let ends = Locked<[JobUpdate]>([])
        Task { [images = client.images] in
            for await update in images.updates() where update.outcome != nil { ends.withLock { $0.append(update) } }
        }
        return ends
    }
}
