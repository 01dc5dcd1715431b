import Foundation

@testable import MobileClient

/// A phone with a registrar, the API's side of its installation, and what is on its way between them.
struct RegistrarWorld: Hashable {
    typealias Machine = TokenRegistrarReducer

    /// What may still happen. Each count bounds the model.
    struct Budget: Hashable {
        var signIns = 0
        var signOuts = 0
        var rotations = 0
        var switches = 0
        var crashes = 0
        var losses = 0
        var throttles = 0
        var refusals = 0
        var outages = 0
        var weeks = 0
        var lostPushes = 0
        var secondPushes = 0
        var earlyTimers = 0
        var restarts = 0
        var storeFaults = 0
    }

    /// A request on its way to the API, or its answer on the way back.
    struct Wire: Hashable {
        var request: Machine.Request
        /// The sign-in whose credential the request carries: the one that was in use when it was sent.
        var credential: String?
        /// Whether the phone has cancelled it, which may come too late.
        var isCancelled = false
        var answer: Machine.Answer?
    }

    struct LogOut: Hashable {
        var signIn: String
        var answer: Machine.Answer?
    }

    var phone = Machine.State()
    var effects: [Machine.Effect] = []
    var events: [Machine.Event] = []
    var record: Machine.Registration?
    /// The store of credentials.
    var current: String?
    var retired: [String] = []
    /// Whether the device was not unlocked since its start, so that the store cannot be read.
    var isLocked = false
    /// Whether the registrar of this process has read the store.
    var hasRead = false
    /// Whether the app knows that a sign-out has failed.
    var mayRepeat = false
    var server: RegistrarServer
    var wire: Wire?
    /// A request whose answer the phone does not wait for any more; the API may still handle it.
    var ghost: Wire?
    var logOut: LogOut?
    var ghostLogOut: String?
    var waits: Set<Machine.Lane> = []
    /// The nonces on their way to the phone.
    var pushes: [Machine.Nonce] = []
    /// What the app has yet to tell the registrar.
    var hasToSync = false
    var hasToTell = true
    var token = "t1"
    var isOff = false
    var day = 0
    var budget: Budget
    /// The sign-ins so far.
    var signIns = 0
    var violation: String?

    init(_ budget: Budget, holder: RegistrarServer.Holder? = nil, users: [String: String] = ["s1": "ada", "s2": "ben"]) {
        self.budget = budget
        server = RegistrarServer(holder: holder, users: users.merging(["s0": "carl"]) { $1 })
        handle(.launched(nil, at: date))
    }

    var date: Date { Date(timeIntervalSince1970: Double(day) * 86_400) }

    var push: Machine.Push {
        isOff ? .off : .on(Machine.Device(token: token, platform: "ios"))
    }

    /// Gives the reducer an event; its effects are performed one at a time.
    mutating func handle(_ event: Machine.Event) {
        effects += Machine.reduce(&phone, event)
        goOn()
    }

    /// Handles the events that effects have returned, once these are performed.
    private mutating func goOn() {
        while effects.isEmpty, !events.isEmpty { effects += Machine.reduce(&phone, events.removeFirst()) }
    }

    mutating func performNext() {
        switch effects.removeFirst() {
        case .read:
            guard !isLocked else { break }
            hasRead = true
            events.append(.read(signIn: current, retired: retired))
        case .readDevice: events.append(.push(push))
        case .save(let registration): record = registration
        case .send(let request):
            if wire != nil { violation = "two requests are in flight" }
            wire = Wire(request: request, credential: current)
        case .cancel: wire?.isCancelled = true
        case .retire:
            mayRepeat = isLocked
            guard !isLocked else { break }
            keep()
            events.append(.left(current, retired: retired))
            current = nil
            hasRead = true
        case .logOut(let signIn):
            if logOut != nil { violation = "two logouts are in flight" }
            if current == signIn { violation = "\(signIn) is ended while its credential is in use" }
            logOut = LogOut(signIn: signIn)
        case .discard(let signIn) where isLocked: violation = "the credential of \(signIn) is discarded while it cannot be read"
        case .discard(let signIn):
            retired.removeAll { $0 == signIn }
            if server.isAlive(signIn) { violation = "the credential of \(signIn) is discarded while the API has its token" }
        case .wait(let lane, _): waits.insert(lane)
        case .stopWaiting(let lane): waits.remove(lane)
        case .report: if wire?.answer == nil, wire != nil { violation = "a registration is reported while another is under way" }
        }
        goOn()
    }

    /// Keeps the credential in use for its logout.
    private mutating func keep() {
        if let current { retired = retired.filter { $0 != current } + [current] }
    }

    /// Keeps the credential for its logout, and cannot take it out of use.
    mutating func failToRetire() {
        effects.removeFirst()
        keep()
        mayRepeat = true
        goOn()
    }

    /// Ends the process. Volatile state is lost; the API may handle what was sent.
    mutating func crash() {
        if let wire, wire.answer == nil { ghost = wire }
        if let logOut, logOut.answer == nil { ghostLogOut = logOut.signIn }
        (phone, effects, events, wire, logOut, waits) = (Machine.State(), [], [], nil, nil, [])
        (hasToSync, hasToTell, hasRead, mayRepeat) = (false, true, false, false)
        handle(.launched(record, at: date))
    }

    /// The cancellation takes effect: the request has an answer, and may still be handled.
    mutating func endCancelled() {
        if let wire, wire.answer == nil { ghost = wire }
        wire?.answer = .failed(after: nil)
    }
}
