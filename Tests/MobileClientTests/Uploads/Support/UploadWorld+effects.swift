import Foundation

@testable import MobileClient

extension UploadWorld {
    /// The worlds after the next effect of the process, one for each way in which it can go.
    func afterEffect() -> [(name: String, world: UploadWorld)] {
        guard let effect = process?.effects.first else { return [] }
        var world = self
        world.process?.effects.removeFirst()
        let name = "effect \(effect)".replacing("00000000-0000-0000-0000-0000000000", with: "#")
        var results: [(name: String, world: UploadWorld)] = []
        switch effect {
        case .listTasks:
            results.append((name, world.answering(.listed(world.listed(world.tasks), now: now))))
            // A task whose end is being delivered may be missing from the list.
            let running = world.tasks.filter { $0.outcome == nil }
            if running.count < world.tasks.count, budget.omittedTasks > 0 {
                world.budget.omittedTasks -= 1
                results.append((name + " without ended ones", world.answering(.listed(world.listed(running), now: now))))
            }
            return results
        case .save(let id, let ending):
            if budget.failedSaves > 0 {
                var failed = world
                failed.budget.failedSaves -= 1
                results.append((name + " fails", failed.answering(.notSaved(id))))
            }
            let index = Self.index(id)
            if world.orders[index].record != .open { world.fault = "an outcome is written over another" }
            world.orders[index].record = .ended(ending)
            if case .refused(let refusal) = ending, refusal == Self.refusal, world.orders[index].hasJob {
                world.fault = "an order that the server has accepted is refused"
            }
            if case .accepted = ending, !world.orders[index].hasJob { world.fault = "an order is accepted without a job" }
            return results + [(name, world.answering(.saved(id, ending)))]
        default:
            return [(name, world.performing(effect))]
        }
    }

    static let refusal = Machine.Refusal(.invalidImage, "no picture")

    private func listed(_ tasks: [SessionTask]) -> [Machine.ListedTask] {
        tasks.map { Machine.ListedTask(task: $0.ref, id: Self.ids[$0.order]) }
    }

    private func answering(_ event: Machine.Event) -> Self {
        var world = self
        world.process?.queue.insert(event, at: 0)
        world.run()
        return world
    }

    private func performing(_ effect: Machine.Effect) -> Self {
        var world = self
        switch effect {
        case .fetchBearer(let fresh):
            if world.process?.asksForBearer != nil { world.fault = "two bearers are fetched at once" }
            world.process?.asksForBearer = fresh
        case .create(let id, _):
            let order = Self.index(id)
            if !orders[order].hasFile { world.fault = "a task is made from a file that is gone" }
            if tasks.contains(where: { $0.order == order && $0.outcome == nil }) { world.fault = "an order has two live tasks" }
            if orders[order].isUnauthorized, process?.hasFreshBearer != true { world.fault = "a bearer that was refused is used again" }
            world.tasks.append(SessionTask(ref: nextRef, order: order))
            world.nextRef += 1
            return world.answering(.created(id, task: nextRef))
        case .cancelTask(let ref):
            // The callback of a task that ended before it was cancelled says how it ended.
            if let index = tasks.firstIndex(where: { $0.ref == ref }), tasks[index].outcome == nil {
                world.tasks[index].outcome = Self.lost
            }
        case .saveLater(let id):
            world.process?.saveTimers.insert(id)
        case .removeFile(let id):
            if orders[Self.index(id)].record == .open { world.fault = "the file of an open order is removed" }
            world.orders[Self.index(id)].hasFile = false
        case .report(let id, let ending):
            world.orders[Self.index(id)].reports += 1
            world.process?.reported[id] = ending
            if orders[Self.index(id)].record != .ended(ending) { world.fault = "an outcome is reported that is not written" }
        case .forget(let id):
            if orders[Self.index(id)].received == nil { world.fault = "an outcome is forgotten before it is acknowledged" }
            world.orders[Self.index(id)].record = .acknowledged
        case .armDeadline(let handler):
            world.process?.deadlines.insert(handler)
        case .callHandler(let handler):
            world.call(handler)
        default:
            break
        }
        world.run()
        return world
    }

    private mutating func call(_ handler: Int) {
        guard process?.handlers.remove(handler) != nil else {
            fault = "a completion handler is called twice"
            return
        }
        guard process?.overdue.contains(handler) != true else { return }
        if process?.delivered.contains(handler) != true { fault = "a completion handler is called before the session has finished" }
        if orders.contains(where: { $0.isAnswered && $0.record == .open }) {
            fault = "a completion handler is called before an outcome is written"
        }
    }

    static let lost = Machine.Outcome.again(after: nil, Machine.Refusal(.unreachable, "lost"), isCounted: false)
    static let overloaded = Machine.Outcome.again(after: 5, Machine.Refusal(.overloaded, "full"), isCounted: true)
}
