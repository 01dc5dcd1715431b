import Foundation

@testable import MobileClient

/// A phone with its files, its credential store and its network, on which the process of the app ends and begins.
final class EKYCPhone: Sendable {
    /// The tokens that the credential store has, and all that it was given.
    actor Credentials {
        private(set) var tokens: AccountTokens?
        private(set) var stored: [AccountTokens] = []
        var faults = 0

        func store(_ new: AccountTokens) throws {
            if faults > 0 {
                faults -= 1
                throw HeliographError(.storage, "The Keychain is locked")
            }
            tokens = new
            stored.append(new)
        }

        func wipe() { tokens = nil }
        func fail(_ count: Int) { faults = count }
    }

    let folder: TemporaryFolder
    let time = ManualTime()
    let server: EKYCServer
    let credentials = Credentials()
    /// The managers of all processes: an app keeps its client.
    private let managers = Locked<[EKYCSessionManager]>([])

    init() throws {
        folder = try TemporaryFolder()
        server = EKYCServer(time)
    }

    /// One process of the app.
    struct Process {
        let manager: EKYCSessionManager
        let sender: ScriptedSender
        let store: PendingTaskStore

        var client: EKYCClient { EKYCClient(manager) }
    }

    /// - Parameters:
    ///   - life: Ends the process at one of its steps; nil for one that goes on.
    ///   - isInstant: Whether waits end at once, with the time that they take.
    ///   - limit: Longer waits of an instant process do not end.
    ///   - scaler: Scales photos that are too large.
    ///   - signIn: Runs before tokens are stored.
    ///   - beforeAnswer: Runs before the API answers.
    func launch(
        _ life: EKYCLife? = nil, isInstant: Bool = false, upTo limit: Duration? = nil, files: (any FileOperations)? = nil,
        scaler: (any PhotoScaling)? = nil,
        signIn: (@Sendable () async -> Void)? = nil,
        beforeAnswer: @escaping @Sendable (ScriptedSender.Sent) async -> Void = { _ in }
    ) -> Process {
        let life = life ?? EKYCLife()
        let files = files ?? life.files
        let source = isInstant ? life.instant(time, upTo: limit) : time.source
        let secrets = FileSecrets(folder: folder.url.appending(path: "secrets"), files: files)
        let store = PendingTaskStore(folder: folder.url.appending(path: "pending"), time: source, secrets: secrets, operations: files)
        let sender = ScriptedSender { [server] sent throws(HeliographError) in
            await beforeAnswer(sent)
            return try await life.exchange { () throws(HeliographError) in try server.answer(sent) }
        }
        let ports = EKYCPorts(
            sender: sender, store: store, secrets: secrets, time: source, pushToken: { "push-token" },
            signIn: { [credentials] tokens in
                await signIn?()
                try await life.step { try await credentials.store(tokens) }
            },
            isSignedIn: { [credentials] in await credentials.tokens?.userID == $0 }, scaler: scaler)
        let process = Process(manager: EKYCSessionManager(ports), sender: sender, store: store)
        managers.withLock { $0.append(process.manager) }
        return process
    }

    /// Releases what the processes keep, as an app does that drops its client.
    func release() { managers.withLock { $0 = [] } }

    /// What the device keeps of sessions: records, secrets and photos.
    var leftovers: [String] { folder.files.filter { !$0.hasSuffix("/lock") } }

    /// The files of the records of sessions.
    var records: [String] { leftovers.filter { $0.hasPrefix("pending/tasks/") } }

    static func photo(_ number: UInt8) -> EKYCClient.Photo { .data(Data([0xFF, 0xD8, 0xFF, number]) + Data("photo".utf8)) }
    static var faces: [EKYCClient.Photo] { [1, 2, 3].map { photo($0) } }
    static var poses: EKYCClient.SignUpPhotos {
        EKYCClient.SignUpPhotos(left: faces, right: [4, 5, 6].map { photo($0) }, front: [7, 8, 9].map { photo($0) })
    }
}

extension EKYCSession {
    /// The outcome, acknowledged.
    func taken() async -> Outcome {
        let outcome = await result()
        await acknowledge()
        return outcome
    }
}
