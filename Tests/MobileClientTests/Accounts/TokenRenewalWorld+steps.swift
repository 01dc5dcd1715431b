import Foundation

@testable import MobileClient

extension TokenRenewalWorld {
    typealias Step = (name: String, world: TokenRenewalWorld)

    /// A copy after a change.
    func after(_ change: (inout TokenRenewalWorld) -> Void) -> TokenRenewalWorld {
        var world = self
        change(&world)
        world.check(record)
        if world.messages.count > 1 { world.messages.sort { $0.order.lexicographicallyPrecedes($1.order) } }
        return world
    }

    func steps() -> [Step] {
        guard violation == nil else { return [] }
        return processes.indices.flatMap(processSteps) + messages.indices.flatMap(messageSteps) + environmentSteps()
    }

    // MARK: Processes

    private func processSteps(_ index: Int) -> [Step] {
        let name = ["app", "extension"][index]
        let process = processes[index]
        var steps: [Step] = []
        if let effect = process.effects.first {
            steps.append(("\(name): \(effect.name)", after { $0.perform(index, fails: false) }))
            if budget.storeFailures > 0, effect.usesStore {
                steps.append(
                    (
                        "\(name): \(effect.name) fails",
                        after { world in
                            world.budget.storeFailures -= 1
                            world.perform(index, fails: true)
                        }
                    ))
            }
        } else {
            if process.state.phase == .waiting { steps.append(("\(name): has waited", after { $0.handle(index, .waited) })) }
            if budget.needs > 0, let session = record.session {
                steps.append(
                    (
                        "\(name): needs another token than \(session.accessToken)",
                        after { world in
                            world.budget.needs -= 1
                            let need = TokenRefreshReducer.Need(signIn: session.id, replacing: session.accessToken)
                            if process.caller == nil { (world.processes[index].caller, world.processes[index].rounds) = (need, 0) }
                            world.handle(index, .needed(need))
                        }
                    ))
            }
        }
        if budget.crashes > 0, process != Process() {
            steps.append(
                (
                    "\(name): is ended",
                    after { world in
                        world.budget.crashes -= 1
                        world.processes[index] = Process()
                        for message in world.messages.indices where world.messages[message].process == index {
                            world.messages[message].process = nil
                        }
                        world.messages.removeAll { $0.process == nil && $0.stage != .toAPI }
                    }
                ))
        }
        return steps
    }

    mutating func handle(_ index: Int, _ event: TokenRefreshReducer.Event) {
        processes[index].effects = TokenRefreshReducer.reduce(&processes[index].state, event)
    }

    private mutating func perform(_ index: Int, fails: Bool) {
        let effect = processes[index].effects.removeFirst()
        let events = fails ? [.storeFailed(HeliographError(.storage, "full", isRetryable: true))] : events(of: effect, index)
        if effect != .release { processes[index].events += events }
        while processes[index].effects.isEmpty, !processes[index].events.isEmpty {
            let event = processes[index].events.removeFirst()
            handle(index, event)
        }
    }

    private mutating func events(of effect: TokenRefreshReducer.Effect, _ index: Int) -> [TokenRefreshReducer.Event] {
        switch effect {
        case .claim(let need): return [.claimed(record.claim(need, by: Self.holder(index), now: now))]
        case .wait: return []
        case .request(let ticket):
            guard ticket.maySend(at: now) else { return [.late] }
            if messages.contains(where: { $0.process == index }) { violation = "two requests of one process are on their way" }
            let (family, number) = Self.parse(ticket.refreshToken)
            if (processes[index].received[family] ?? 0) > number { violation = "a process has let newer tokens go that it had" }
            messages.append(Message(process: index, family: family, token: number, sendBy: ticket.sendBy))
            return []
        case .store(let ticket, let tokens):
            record.store(tokens, for: ticket, now: now)
            return [.stored]
        case .lose(let ticket):
            _ = record.lose(ticket)
            return [.ended]
        case .release:
            record.release(Self.holder(index))
            return []
        case .finish(let error):
            guard let need = processes[index].caller else { return [] }
            let isSame = record.session?.id == need.signIn && record.session?.accessToken == need.replacing
            processes[index].rounds += 1
            if error == nil, isSame, processes[index].rounds < 3 { return [.needed(need)] }
            processes[index].caller = nil
            return []
        }
    }
}

extension TokenRefreshReducer.Effect {
    fileprivate var name: String {
        switch self {
        case .claim: "claims"
        case .wait: "waits"
        case .request: "sends"
        case .store: "stores"
        case .lose: "lets the sign-in go"
        case .release: "releases its claim"
        case .finish: "tells its caller"
        }
    }

    fileprivate var usesStore: Bool {
        switch self {
        case .claim, .store, .lose: true
        default: false
        }
    }
}
