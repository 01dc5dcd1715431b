internal import Foundation

/// Performs the effects of the reducer.
extension PresenceKeeper {
    func perform(_ effect: Machine.Effect) -> [Machine.Event] {
        switch effect {
        case .look: return [.shown(screen), .foreground(isForeground), .network(isOnline: isOnline)]
        case .send(let conversation):
            let task = Task { [weak self, ports] in
                let answer = await Self.answer(to: conversation, ports)
                await self?.finished(conversation, answer)
            }
            request = task
        case .wait(let wait): start(wait)
        case .stopWaiting(let kind): waits.removeValue(forKey: kind)?.task.cancel()
        }
        return []
    }

    /// Sends a request, and ends it at its deadline.
    private static func answer(to conversation: String?, _ ports: Ports) async -> Machine.Answer {
        let installation = await ports.installation()
        let task = Task { () -> Machine.Answer in
            do throws(HeliographError) {
                try await ports.sender.send(PresenceRequests.show(conversation, installation: installation))
                return .accepted
            } catch { return Machine.Answer(error) }
        }
        let deadline = Task {
            guard (try? await ports.time.sleep(requestDeadline)) != nil else { return }
            task.cancel()
        }
        defer { deadline.cancel() }
        return await task.value
    }

    private func finished(_ conversation: String?, _ answer: Machine.Answer) async {
        request = nil
        if case .failed = answer {} else { failures = 0 }
        await send(.answered(conversation, answer))
        guard await runner().state.request == nil else { return }
        for leaver in leavers.values { leaver.resume() }
        leavers = [:]
    }

    private func start(_ wait: Machine.Wait) {
        waits[wait.kind]?.task.cancel()
        let time: Duration
        switch wait {
        // Between 20 and 30 seconds, so that the phones of a conversation do not renew at the same time.
        case .renewal: time = .seconds(20) + .seconds(10) * ports.random()
        case .lapse: time = Machine.lease
        case .retry(let least):
            failures += 1
            time = .seconds(2) * (1 << min(failures - 1, 3)) * (0.5 + 0.5 * ports.random()) + (least ?? .zero)
        }
        let id = UUID()
        let task = Task { [weak self, ports] in
            guard (try? await ports.time.sleep(time)) != nil else { return }
            await self?.ended(wait, id)
        }
        waits[wait.kind] = (id, task)
    }

    /// Goes on after a wait, unless another has taken its place.
    private func ended(_ wait: Machine.Wait, _ id: UUID) async {
        guard waits[wait.kind]?.id == id else { return }
        waits[wait.kind] = nil
        await send(.resumed(wait))
    }

    /// Returns when no request is in flight, or the time is up.
    func waitForRest() async {
        let id = UUID()
        let deadline = Task { [weak self, ports] in
            guard (try? await ports.time.sleep(Self.backgroundDeadline)) != nil else { return }
            await self?.endWait(id)
        }
        await withCheckedContinuation { continuation in
            if request == nil { continuation.resume() } else { leavers[id] = continuation }
        }
        deadline.cancel()
    }

    private func endWait(_ id: UUID) { leavers.removeValue(forKey: id)?.resume() }
}

extension PresenceReducer.Answer {
    /// Reads the outcome of a request that has failed.
    init(_ error: HeliographError) {
        switch TokenRegistrarReducer.Answer(error) {
        case .failed(let time): self = .failed(after: time)
        default: self = .refused
        }
    }
}
