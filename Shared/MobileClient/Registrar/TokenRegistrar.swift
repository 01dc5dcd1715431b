internal import Foundation

/// Keeps the push token of this installation registered for the signed-in account: from sign-in to sign-out, across new tokens, lost
/// networks and ends of the app.
///
/// Call it for each event of the app, in any order. Requests are sent only when they change something, one at a time, and are repeated with
/// growing waits while the API is not reached. ``HeliographClient`` has one.
public actor TokenRegistrar {
    typealias Machine = TokenRegistrarReducer

    /// The time after which a sign-out no longer waits for the API.
    static let signOutDeadline = Duration.seconds(5)

    let ports: Ports
    private var starting: Task<ReducerRunner<Machine>, Never>?
    /// The last push token from the app, even while pushes are off.
    private(set) var token: String?
    private var platform = Platform.ios
    private var isOff = false
    private var isOnline = true

    var request: Task<Void, Never>?
    var waits: [Machine.Lane: (id: UUID, task: Task<Void, Never>)] = [:]
    /// The failures in a row; waits grow with them.
    var failures: [Machine.Lane: Int] = [:]
    /// The sign-in that was left last.
    var lastLeft: String?
    /// Why the credential could not be taken out of use by the sign-out that was tried last.
    var leaveFault: HeliographError?
    /// The retired sign-ins whose logout has been tried.
    var tried: Set<String> = []
    /// The calls that wait for a logout.
    var leavers: [UUID: (signIn: String, continuation: CheckedContinuation<Void, Never>)] = [:]

    init(_ ports: Ports) { self.ports = ports }

    deinit {
        waits.values.forEach { $0.task.cancel() }
    }

    /// Continues the work of an earlier process: the registration if it is old or was not confirmed, and sign-outs that the API has not
    /// confirmed. Call it at launch; every other call does the same if it was not called.
    public func start() async { _ = await runner() }

    /// Names the push token that the push service has given out: at each launch, and when it is replaced.
    ///
    /// - Parameters:
    ///   - token: The registration token or the installation id of Firebase, of up to 4,096 printable ASCII characters. Anything else
    ///     counts as no token. It is not the device token of APNs, from which Firebase makes its own.
    ///   - platform: The push service's platform.
    public func tokenChanged(_ token: String, platform: Platform = .ios) async {
        let isValid = (1...4_096).contains(token.utf8.count) && token.utf8.allSatisfy { 0x21...0x7E ~= $0 }
        self.token = isValid ? token : nil
        self.platform = platform
        await send(.deviceChanged)
    }

    /// Says whether the person wants pushes on this phone; they do until the app says otherwise, which it does at each launch.
    ///
    /// While they do not, the account has no push token here.
    public func wantsPushes(_ isWanted: Bool) async {
        isOff = !isWanted
        await send(.deviceChanged)
    }

    /// Says that a person has signed in. The push token is registered for them.
    public func signedIn() async { await credentialsChanged() }

    /// Follows the store of credentials. Call it where a sign-in has ended otherwise than by ``signOut()``: the API has revoked it.
    func credentialsChanged() async { await send(.credentialsChanged) }

    /// Signs out: takes the credential out of use, and ends the sign-in at the API, which removes the push token in the same transaction.
    ///
    /// It waits for the API for five seconds at most. When the API was not reached, the sign-out takes effect on this phone all the same.
    /// It is repeated until the API has confirmed it, even after an end of the app, and the push token moves to the next account that signs
    /// in here.
    /// - Returns: Whether the API has confirmed all logouts. True when there was no sign-in, and no earlier logout is being repeated.
    /// - Throws: `storage` when the credential cannot be read or removed. Then it is still in use, and another call may sign out.
    @discardableResult
    public func signOut() async throws(HeliographError) -> Bool {
        let runner = await runner()
        await runner.send(.signOut)
        if let leaveFault { throw leaveFault }
        guard let signIn = lastLeft else { return await runner.state.leaving.isEmpty }
        guard await runner.state.leaving.contains(signIn) else { return true }
        await waitForLogOut(of: signIn)
        return await !runner.state.leaving.contains(signIn)
    }

    /// Returns the nonce of a push `possession_check` to the API, by which the installation moves to this account.
    ///
    /// The push may come early, late and twice.
    public func nonceArrived(handOverID: String, nonce: String) async {
        guard (1...64).contains(handOverID.utf8.count), (1...512).contains(nonce.utf8.count) else { return }
        await send(.nonce(Machine.Nonce(handOverID: handOverID, nonce: nonce)))
    }

    /// Says whether there is a network. Until it is said, there is one.
    public func networkChanged(isOnline: Bool) async {
        self.isOnline = isOnline
        await send(.deviceChanged)
    }

    /// Tells the registrar that the app is in use again: changes are registered (its version, the language), and a registration of seven
    /// days ago is repeated.
    public func becameActive() async {
        // A process that was launched on a locked device could not read the signed-in account.
        await credentialsChanged()
        await send(.deviceChanged)
        await send(.woke(at: ports.time.now()))
    }

    /// The present data of this installation.
    var device: [Machine.Event] {
        var push = Machine.Push.unknown
        if isOff {
            push = .off
        } else if let token {
            push = .on(
                Machine.Device(
                    token: token, platform: platform.rawValue, appVersion: Self.visible(ports.appVersion(), upTo: 64),
                    locale: Self.visible(ports.locale()?.replacingOccurrences(of: "_", with: "-"), upTo: 35)))
        }
        return [.push(push), .network(isOnline: isOnline)]
    }

    /// A text that the API accepts. A text that it would refuse is left out, and the token is registered without it.
    private static func visible(_ text: String?, upTo length: Int) -> String? {
        text.flatMap { $0.utf8.count <= length && $0.utf8.allSatisfy { 0x20...0x7E ~= $0 } && !$0.isEmpty ? $0 : nil }
    }

    /// The runner, after the records of an earlier process were read.
    func runner() async -> ReducerRunner<Machine> {
        if let starting { return await starting.value }
        let task = Task { [weak self, ports] in
            let runner = ReducerRunner<Machine>(Machine.State()) { [weak self] effect in await self?.perform(effect) ?? [] }
            await runner.send(.launched(ports.file.load(), at: ports.time.now()))
            return runner
        }
        starting = task
        return await task.value
    }

    func send(_ event: Machine.Event) async { await runner().send(event) }
}
