import Foundation

@testable import MobileClient

extension UploadWorld {
    typealias Step = (name: String, world: UploadWorld)

    /// All that can happen next.
    func steps() -> [Step] {
        guard fault == nil else { return [] }
        guard let process else { return networkSteps() + launchSteps() }
        if !process.effects.isEmpty { return networkSteps() + endSteps() + afterEffect() }
        if !process.queue.isEmpty { return endSteps() + [changed("the reducer goes on") { $0.run() }] }
        // The system says why it has woken the app up within moments after the session has delivered its events, if not before.
        if batch.isFinished, !batch.isWoken { return endSteps() + sessionSteps(process) }
        return networkSteps() + endSteps() + orderSteps() + sessionSteps(process) + appSteps(process)
    }

    private func changed(_ name: String, _ change: (inout Self) -> Void) -> Step {
        var world = self
        change(&world)
        return (name, world)
    }

    // MARK: Outside of the process

    private func networkSteps() -> [Step] {
        var steps: [Step] = []
        for (index, task) in tasks.enumerated() where task.outcome == nil {
            func ended(_ name: String, _ outcome: Machine.Outcome, _ change: (inout Self) -> Void = { _ in }) {
                steps.append(
                    changed("task \(task.ref): \(name)") { world in
                        change(&world)
                        world.tasks[index].outcome = outcome
                        world.noteEnd()
                    })
            }
            let order = orders[task.order]
            if order.isRefusable {
                ended("refused", .refused(Self.refusal))
            } else {
                ended("accepted", .accepted(jobID: Self.job(task.order))) { $0.orders[task.order].hasJob = true }
                if budget.repeatedPosts > 0, !order.hasJob {
                    steps.append(
                        changed("task \(task.ref): the system repeats the POST") { world in
                            world.orders[task.order].hasJob = true
                            world.budget.repeatedPosts -= 1
                        })
                }
                if budget.lostAnswers > 0 {
                    ended("the answer is lost", Self.lost) { world in
                        world.orders[task.order].hasJob = true
                        world.budget.lostAnswers -= 1
                    }
                }
            }
            if budget.refusedBearers > 0 {
                ended("401", .unauthorized(Machine.Refusal(.unauthorized, "old"))) { $0.budget.refusedBearers -= 1 }
            }
            if budget.overloads > 0 { ended("503", Self.overloaded) { $0.budget.overloads -= 1 } }
        }
        return steps
    }

    /// A task that ends while the app is not in the foreground makes the system wake it up.
    private mutating func noteEnd() {
        guard process?.state.isForeground != true, !batch.isOwed, budget.wakeUps > 0 else { return }
        budget.wakeUps -= 1
        batch.isOwed = true
    }

    private func endSteps() -> [Step] {
        guard process != nil else { return [] }
        var steps: [Step] = []
        if budget.crashes > 0 {
            steps.append(
                changed("the process ends") { world in
                    world.budget.crashes -= 1
                    world.endProcess()
                    // The system has seen the end of the process before its handler was called, and wakes the app up again.
                    world.batch.isWoken = false
                    world.batch.isFinished = false
                })
        }
        if budget.forceQuits > 0 {
            steps.append(
                changed("the user ends the app") { world in
                    world.budget.forceQuits -= 1
                    world.endProcess()
                    world.tasks = []
                    world.batch = Batch()
                })
        }
        return steps
    }

    private func launchSteps() -> [Step] {
        var steps = [
            changed("the user opens the app") { world in
                world.strayFinish = world.batch.isOwed
                world.batch = Batch()
                world.launch(inForeground: true)
            }
        ]
        if batch.isOwed { steps.append(changed("the system launches the app") { $0.launch(inForeground: false) }) }
        return steps
    }

    // MARK: In the process

    private func orderSteps() -> [Step] {
        orders.indices.filter { orders[$0].stage < 3 }.map { index in
            changed("order \(index): \(["write the file", "write the record", "tell the reducer"][orders[index].stage])") { world in
                world.orders[index].stage += 1
                switch world.orders[index].stage {
                case 1: world.orders[index].hasFile = true
                case 2: world.orders[index].record = .open
                default: world.send(.enqueued(Self.ids[index], Machine.Upload(createdAt: Self.start)))
                }
            }
        }
    }

    private func sessionSteps(_ process: Process) -> [Step] {
        var steps: [Step] = []
        for (index, task) in tasks.enumerated() {
            guard let outcome = task.outcome else { continue }
            steps.append(
                changed("callback of task \(task.ref)") { world in
                    world.tasks.remove(at: index)
                    switch outcome {
                    case .accepted: world.orders[task.order].isAnswered = true
                    case .unauthorized:
                        world.orders[task.order].isUnauthorized = true
                        world.process?.hasFreshBearer = false
                    // While another task of the order works, its answer decides.
                    case .refused where !world.tasks.contains { $0.order == task.order }: world.orders[task.order].isAnswered = true
                    default: break
                    }
                    world.send(.completed(Self.ids[task.order], task: task.ref, outcome))
                })
        }
        let isDelivered = !tasks.contains { $0.outcome != nil }
        if batch.isOwed, !batch.isWoken, !process.state.isForeground {
            steps.append(
                changed("wake-up") { world in
                    let handler = world.nextHandler
                    world.nextHandler += 1
                    world.process?.handlers.insert(handler)
                    if world.batch.isFinished { world.process?.delivered.insert(handler) }
                    world.batch.isWoken = true
                    world.send(.wokenUp(handler: handler))
                    world.closeBatch()
                })
        }
        if batch.isOwed, !batch.isFinished, isDelivered {
            steps.append(
                changed("the session has finished") { world in
                    world.batch.isFinished = true
                    world.process?.delivered = process.delivered.union(process.handlers)
                    world.send(.sessionFinished)
                    world.closeBatch()
                })
        }
        if strayFinish, isDelivered {
            steps.append(
                changed("the session has finished in the foreground") { world in
                    world.strayFinish = false
                    world.send(.sessionFinished)
                })
        }
        return steps
    }

    /// A batch ends when the app has been told both that it begins and that it ends, or was opened in between.
    mutating func closeBatch() {
        if batch.isFinished, batch.isWoken || process?.state.isForeground == true { batch = Batch() }
    }

    private func appSteps(_ process: Process) -> [Step] {
        var steps: [Step] = []
        if let fresh = process.asksForBearer {
            func answered(_ name: String, _ answer: Machine.BearerAnswer, _ change: (inout Self) -> Void = { _ in }) {
                steps.append(
                    changed("bearer\(fresh ? ", a fresh one" : ""): \(name)") { world in
                        change(&world)
                        world.process?.asksForBearer = nil
                        if fresh { world.process?.hasFreshBearer = true }
                        world.send(.bearer(answer))
                    })
            }
            answered("ready", .ready(owner: "me"))
            if budget.missingBearers > 0 { answered("unavailable", .unavailable) { $0.budget.missingBearers -= 1 } }
            if budget.otherAccounts > 0 { answered("of another account", .ready(owner: "other")) { $0.budget.otherAccounts -= 1 } }
        }
        for id in process.reported.keys.sorted() {
            steps.append(
                changed("the tracker saves order \(Self.index(id))") { world in
                    let order = world.orders[Self.index(id)]
                    if let received = order.received, received != process.reported[id] { world.fault = "an order has two outcomes" }
                    world.orders[Self.index(id)].received = process.reported[id]
                    world.process?.reported[id] = nil
                    // An end of the process before the acknowledgement makes the tracker hear of it again.
                    world.process?.queue.append(.acknowledged(id))
                })
        }
        for id in process.saveTimers.sorted() {
            steps.append(
                changed("time to save again") { world in
                    world.process?.saveTimers.remove(id)
                    world.send(.saveAgain(id))
                })
        }
        for handler in process.deadlines.sorted() where budget.deadlines > 0 {
            steps.append(
                changed("deadline of handler \(handler)") { world in
                    world.budget.deadlines -= 1
                    world.process?.deadlines.remove(handler)
                    world.process?.overdue.insert(handler)
                    world.send(.deadline(handler: handler))
                })
        }
        return steps + moveSteps(process)
    }

    private func moveSteps(_ process: Process) -> [Step] {
        var steps: [Step] = []
        let isParked = process.state.uploads.values.contains { $0.phase == .parked }
        if process.state.isForeground {
            if budget.moves > 0 {
                steps.append(
                    changed("background") { world in
                        world.budget.moves -= 1
                        world.strayFinish = false
                        world.send(.background)
                    })
            }
        } else if budget.moves > 0 || isParked {
            steps.append(
                changed("foreground") { world in
                    world.budget.moves = max(0, world.budget.moves - 1)
                    if world.batch.isOwed, !world.batch.isWoken { world.batch.isWoken = true }
                    world.send(.foreground)
                    world.closeBatch()
                })
        }
        if isParked { steps.append(changed("a bearer may be had") { $0.send(.bearerDue) }) }
        for index in orders.indices where budget.cancellations > 0 && orders[index].stage == 3 && orders[index].record == .open {
            steps.append(
                changed("cancel order \(index)") { world in
                    world.budget.cancellations -= 1
                    world.send(.cancelled(Self.ids[index]))
                })
        }
        if budget.signOuts > 0 {
            steps.append(
                changed("sign-out") { world in
                    world.budget.signOuts -= 1
                    world.send(.signedOut)
                })
        }
        if budget.expiries > 0 {
            steps.append(
                changed("24 hours pass") { world in
                    world.budget.expiries -= 1
                    world.isOld = true
                    world.send(.swept(now: world.now))
                })
        }
        return steps
    }
}
