internal import Foundation

/// Tells the API which conversation is on the screen, so that this phone gets no pushes about it.
///
/// The API believes it for 45 seconds, and this renews it while the conversation can be seen. Call it for each event of the app. Errors are
/// not reported: without a lease, the phone gets an unneeded push, and ``ForegroundPolicy`` does not show it.
public actor PresenceKeeper {
    typealias Machine = PresenceReducer

    /// The services that a keeper uses.
    struct Ports: Sendable {
        var sender: any APISender
        /// The push token, which an account of a Firebase project has to name.
        var installation: @Sendable () async -> String? = { nil }
        var time: TimeSource = .system
        /// A number from 0 up to 1, for the jitter of waits.
        var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    }

    /// The time after which an app that goes to the background no longer waits for the API: iOS gives it some seconds.
    static let backgroundDeadline = Duration.seconds(4)
    /// The time after which a request counts as failed, with its repetitions.
    static let requestDeadline = Duration.seconds(15)

    let ports: Ports
    var screen: String?
    var isForeground = true
    var isOnline = true
    private var running: ReducerRunner<Machine>?
    var waits: [Machine.Wait.Kind: (id: UUID, task: Task<Void, Never>)] = [:]
    /// The failures in a row; waits grow with them.
    var failures = 0
    var request: Task<Void, Never>?
    /// The calls that wait until the API knows that no conversation is on the screen.
    var leavers: [UUID: CheckedContinuation<Void, Never>] = [:]

    init(_ ports: Ports) { self.ports = ports }

    deinit { waits.values.forEach { $0.task.cancel() } }

    /// Sets the conversation that the app shows, by the id that its pushes have; nil for no conversation.
    public func show(conversation: String?) async {
        screen = conversation
        await send(.changed)
    }

    /// Says that the app cannot be seen any more. Returns when the API knows, and after four seconds at the latest.
    public func enterBackground() async {
        isForeground = false
        await send(.changed)
        guard await runner().state.request != nil, !isForeground else { return }
        await waitForRest()
    }

    /// Says that the app can be seen again.
    public func enterForeground() async {
        isForeground = true
        await send(.changed)
    }

    /// Says whether there is a network. Until it is said, there is one.
    public func networkChanged(isOnline: Bool) async {
        self.isOnline = isOnline
        await send(.changed)
    }

    /// Tells the keeper that the API knows this installation from now on, so requests that it refused before may be accepted.
    /// ``TokenRegistrar`` calls it.
    func deviceRegistered() async { await send(.deviceRegistered) }

    func runner() -> ReducerRunner<Machine> {
        if let running { return running }
        let runner = ReducerRunner<Machine>(Machine.State()) { [weak self] effect in await self?.perform(effect) ?? [] }
        running = runner
        return runner
    }

    func send(_ event: Machine.Event) async { await runner().send(event) }
}
