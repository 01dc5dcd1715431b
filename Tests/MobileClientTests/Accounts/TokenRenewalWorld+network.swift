import Foundation

@testable import MobileClient

extension TokenRenewalWorld {
    // MARK: Network

    func messageSteps(_ index: Int) -> [Step] {
        let message = messages[index]
        let name = "request \(message.process.map { "of \($0)" } ?? "given up") with R\(message.family).\(message.token)"
        switch message.stage {
        case .toAPI:
            let arrival = after { world in
                let answer = world.arrive(message)
                world.messages.remove(at: index)
                if message.process != nil {
                    var reply = message
                    reply.stage = .answer(answer)
                    world.messages.append(reply)
                }
            }
            guard message.process != nil, budget.losses > 0 else { return [("\(name) arrives", arrival)] }
            let limbo = after { world in
                world.budget.losses -= 1
                world.messages[index].process = nil
                var failure = message
                failure.stage = .answer(.failed(Self.unreachable))
                world.messages.append(failure)
            }
            return [("\(name) arrives", arrival), ("\(name) seems lost", limbo)]
        case .answer(let event):
            guard let process = message.process, processes[process].effects.isEmpty else { return [] }
            let delivery = after { world in
                world.messages.remove(at: index)
                if case .answered = event { world.processes[process].received[message.family] = message.token + 1 }
                world.handle(process, event)
            }
            guard budget.losses > 0, event != .failed(Self.unreachable) else { return [("\(name) is answered", delivery)] }
            let loss = after { world in
                world.budget.losses -= 1
                world.messages.remove(at: index)
                world.handle(process, .failed(Self.unreachable))
            }
            return [("\(name) is answered", delivery), ("\(name) loses its answer", loss)]
        }
    }

    // MARK: Environment

    func environmentSteps() -> [Step] {
        var steps: [Step] = []
        if budget.ticks > 0 {
            steps.append(
                (
                    "five seconds pass",
                    after { world in
                        world.budget.ticks -= 1
                        world.now += Self.tick
                        for index in world.messages.indices where world.messages[index].stage == .toAPI {
                            if world.messages[index].sendBy <= world.now {
                                world.messages[index].stage = .answer(.failed(Self.unreachable))
                            }
                        }
                        world.messages.removeAll { $0.process == nil && $0.stage != .toAPI }
                    }
                ))
        }
        if budget.signOuts > 0, record.session != nil {
            steps.append(
                (
                    "the person signs out",
                    after { world in
                        world.budget.signOuts -= 1
                        _ = world.record.signOut(nil)
                    }
                ))
        }
        if budget.signIns > 0 {
            steps.append(
                (
                    "the person signs in",
                    after { world in
                        world.budget.signIns -= 1
                        let family = world.families.count
                        world.families.append(Family())
                        world.record.signIn(Self.signIn(family), world.tokens(family, 1), now: world.now)
                    }
                ))
        }
        for family in families.indices where budget.remoteEnds > 0 && !families[family].isDead {
            steps.append(
                (
                    "the API ends sign-in \(family)",
                    after { world in
                        world.budget.remoteEnds -= 1
                        world.families[family].isDead = true
                        world.families[family].hasEnded = true
                    }
                ))
        }
        return steps
    }
}
