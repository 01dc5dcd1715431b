internal import Foundation
internal import MobileClient
internal import Synchronization

/// What all phones of a run share.
final class World: Sendable {
    let scenario: Scenario
    let addresses: StackAddresses
    let photos: PhotoBook
    let folder: URL
    let emulator: EmulatorControl
    let feed: PushFeed
    let directory = PhoneDirectory()
    let measurements = Measurements()
    let start = ContinuousClock.now
    /// Names topics and accounts of this run alone.
    let name: String
    private let transports: [any HTTPTransport]
    private let found = Mutex<[Violation]>([])
    private let onViolation: @Sendable (Violation) -> Void

    /// - Parameters:
    ///   - transports: Carry the requests of the phones, each for some of them; connections for each phone would be too many for one
    ///     machine.
    ///   - control: Carries the requests to the emulator.
    init(
        _ scenario: Scenario, _ addresses: StackAddresses, photos: PhotoBook, folder: URL, transports: [any HTTPTransport],
        control: any HTTPTransport, onViolation: @escaping @Sendable (Violation) -> Void = { _ in }
    ) {
        self.scenario = scenario
        self.addresses = addresses
        self.photos = photos
        self.folder = folder
        self.transports = transports
        emulator = EmulatorControl(url: addresses.emulator, transport: control)
        feed = PushFeed(emulator)
        name = "sim-" + UUID().uuidString.prefix(8).lowercased()
        self.onViolation = onViolation
    }

    var violations: [Violation] { found.withLock { $0 } }

    /// Seconds since the run began.
    var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }

    func transport(of phone: Int) -> any HTTPTransport { transports[phone % transports.count] }

    func report(_ violation: Violation) {
        found.withLock { $0.append(violation) }
        onViolation(violation)
    }
}

/// The information that people exchange outside of the app: who has an account, and who is in which group.
final class PhoneDirectory: Sendable {
    private struct State {
        var enrolled: [(email: String, user: String)] = []
        var users: [Int: UUID] = [:]
        var invited: Set<Int> = []
    }

    private let state = Mutex(State())

    /// Announces an account with an enrolled face.
    func enrolled(_ email: String, user: String) {
        state.withLock { state in
            if !state.enrolled.contains(where: { $0.email == email }) { state.enrolled.append((email, user)) }
        }
    }

    /// Another account with a face than the given one.
    func account(besides email: String?, _ random: inout SimRandom) -> (email: String, user: String)? {
        let others = state.withLock { $0.enrolled.filter { $0.email != email } }
        return others.randomElement(using: &random)
    }

    func join(_ phone: Int, as user: UUID) { state.withLock { $0.users[phone] = $0.users[phone] ?? user } }

    func user(of phone: Int) -> UUID? { state.withLock { $0.users[phone] } }

    func invited(_ phone: Int) { _ = state.withLock { $0.invited.insert(phone) } }

    func isInvited(_ phone: Int) -> Bool { state.withLock { $0.invited.contains(phone) } }
}
