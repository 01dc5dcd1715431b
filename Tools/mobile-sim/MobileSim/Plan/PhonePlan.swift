/// The actions and incidents of one phone, made from the seed before the run. Times are seconds since the run began.
struct PhonePlan: Sendable, Equatable {
    /// How the phone's person signs in.
    enum Kind: String, Codable, Sendable, CaseIterable {
        /// By an e-mail address, a sign-up by face, and a sign-in by face.
        case enrolling
        /// By face, to the account that an enrolling phone has made.
        case sharing
        /// With an account of Firebase; the emulator issues its ID tokens.
        case firebase
    }

    /// The actions of the person in the app.
    enum Action: Sendable, Equatable {
        case order(template: Int)
        case photo
        case message
        case openChat(seconds: Double)
        /// - Parameter another: Whether another account signs in afterwards.
        case signOut(another: Bool)
    }

    /// The incidents of the phone.
    enum Incident: Sendable, Equatable {
        /// The process ends at the `points`-th request, answer or pause from then on, and another begins after `down` seconds.
        case kill(points: Int, down: Double)
        /// There is no network; `isTold` when the app hears of it.
        case offline(seconds: Double, isTold: Bool)
        case background(seconds: Double)
        case rotateToken
    }

    struct At<Event: Sendable & Equatable>: Sendable, Equatable {
        let time: Double
        let event: Event
    }

    let kind: Kind
    let start: Double
    let actions: [At<Action>]
    let incidents: [At<Incident>]

    init(_ scenario: Scenario, phone: Int) {
        var random = SimRandom(seed: scenario.seed, stream: UInt64(phone))
        let kind = Self.kind(of: phone, scenario)
        let end = scenario.duration
        // Accounts that other people need come first.
        let start = random.seconds(0...(min(end, 600) * (kind == .enrolling ? 0.2 : 0.4)))
        func times<Event: Sendable & Equatable>(_ mean: Double, from lead: Double, _ make: (inout SimRandom) -> Event) -> [At<Event>] {
            (0..<random.count(mean: mean)).map { _ in
                At(time: random.seconds(min(start + min(lead, end * 0.1), end)...end), event: make(&random))
            }
        }
        var actions = times(scenario.orders, from: 5) { Action.order(template: Int.random(in: 0..<64, using: &$0)) }
        actions += times(scenario.photos, from: 20) { _ in Action.photo }
        actions += times(scenario.messages, from: 20) { _ in Action.message }
        actions += times(scenario.chats, from: 20) { Action.openChat(seconds: $0.seconds(5...90)) }
        if kind == .firebase || scenario.acceptsCopies {
            actions += times(scenario.signOuts, from: end * 0.3) { Action.signOut(another: $0.chance(0.6)) }
        }
        // Most ends come while the app is at work, which it is for a small part of its time: at its first start, or at an action.
        let work = [min(start + 1, end)] + actions.map(\.time)
        var incidents = times(scenario.kills, from: 1) {
            Incident.kill(points: Int.random(in: 1...14, using: &$0), down: $0.chance(0.7) ? $0.seconds(0.2...5) : $0.seconds(5...90))
        }.map { kill in
            guard random.chance(0.7), let time = work.randomElement(using: &random) else { return kill }
            return At(time: time, event: kill.event)
        }
        incidents += times(scenario.lossPeriods, from: 5) { Incident.offline(seconds: $0.seconds(1...60), isTold: $0.chance(0.5)) }
        incidents += times(scenario.backgrounds, from: 5) { Incident.background(seconds: $0.seconds(2...60)) }
        incidents += times(scenario.rotations, from: 15) { _ in .rotateToken }
        self.kind = kind
        self.start = start
        self.actions = actions.sorted { $0.time < $1.time }
        self.incidents = incidents.sorted { $0.time < $1.time }
    }

    /// The kinds, spread evenly over the phones. The first phone enrols where any does.
    static func kind(of phone: Int, _ scenario: Scenario) -> Kind {
        func isNext(_ share: Double) -> Bool {
            share > 0 && (Double(phone) * share).rounded(.down) != (Double(phone - 1) * share).rounded(.down)
        }
        if isNext(min(1, scenario.enrolling)) { return .enrolling }
        let enrolls = scenario.enrolling > 0
        // Of the others, so that the share is met.
        let rest = phone - Int((Double(phone) * scenario.enrolling).rounded(.up))
        let share = scenario.enrolling < 1 ? scenario.sharing / (1 - scenario.enrolling) : 0
        let isSharing = (Double(rest + 1) * share).rounded(.down) != (Double(rest) * share).rounded(.down)
        return enrolls && scenario.acceptsCopies && isSharing ? .sharing : .firebase
    }
}
