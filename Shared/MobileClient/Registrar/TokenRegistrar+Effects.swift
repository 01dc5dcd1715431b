internal import Foundation

/// Performs the effects of the reducer. What takes long runs in a task of its own, which reports its outcome.
extension TokenRegistrar {
    /// The first wait after a failure, and the longest.
    private static let firstWait = Duration.seconds(2)
    private static let longestWait = Duration.seconds(900)

    func perform(_ effect: Machine.Effect) async -> [Machine.Event] {
        switch effect {
        case .read: return await readSignIns()
        case .readDevice: return device
        case .save(let registration): ports.file.save(registration)
        case .send(let order):
            request = Task { [weak self, ports, token] in
                let answer = await Self.answer(to: order, installation: token, ports)
                await self?.finished(order, answer)
            }
        case .cancel: request?.cancel()
        case .retire: return await retire()
        case .logOut(let signIn):
            Task { [weak self, ports, token] in
                let answer: Machine.Answer
                do throws(HeliographError) {
                    try await ports.signIns.logOut(signIn, installation: token)
                    answer = .removed
                } catch { answer = Machine.Answer(ofLogOut: error) }
                await self?.finishedLogOut(of: signIn, answer)
            }
        case .discard(let signIn): await ports.signIns.discard(signIn)
        case .wait(let lane, let wait): start(wait, of: lane)
        case .stopWaiting(let lane): waits.removeValue(forKey: lane)?.task.cancel()
        // Not awaited, so that it may call this registrar.
        case .report: Task { [ports] in await ports.onRegistered() }
        }
        return []
    }

    private func readSignIns() async -> [Machine.Event] {
        do throws(HeliographError) {
            return [.read(signIn: try await ports.signIns.current(), retired: await ports.signIns.retired())]
        } catch {
            // The app calls again when the device can be read: ``becameActive()``.
            return []
        }
    }

    private func retire() async -> [Machine.Event] {
        do throws(HeliographError) {
            let signIn = try await ports.signIns.retire()
            leaveFault = nil
            lastLeft = signIn ?? lastLeft
            return [.left(signIn, retired: await ports.signIns.retired())]
        } catch {
            leaveFault = error
            return []
        }
    }

    /// Sends a request to the API.
    private static func answer(to request: Machine.Request, installation: String?, _ ports: Ports) async -> Machine.Answer {
        do throws(HeliographError) {
            switch request {
            case .register(let order):
                let device = order.device
                let answer = try await ports.sender.send(
                    DeviceRequests.register(
                        token: device.token, platform: device.platform, appVersion: device.appVersion, locale: device.locale))
                guard case .pending(let id, let time) = answer else { break }
                return .claimed(handOverID: id, expiresIn: time)
            case .confirm(let nonce, _):
                try await ports.sender.send(DeviceRequests.confirm(handOverID: nonce.handOverID, nonce: nonce.nonce))
            case .remove:
                try await ports.sender.send(DeviceRequests.remove(installation: installation))
                return .removed
            }
            return .registered(at: ports.time.now())
        } catch {
            if case .confirm = request, error.status == 404 { return .gone }
            return Machine.Answer(error)
        }
    }

    private func finished(_ order: Machine.Request, _ answer: Machine.Answer) async {
        request = nil
        if case .failed = answer {} else { failures[.registration] = nil }
        await send(.answered(order, answer))
    }

    private func finishedLogOut(of signIn: String, _ answer: Machine.Answer) async {
        if case .failed = answer {} else { failures[.logOut] = nil }
        await send(.loggedOut(signIn, answer))
        tried.insert(signIn)
        for (id, leaver) in leavers where leaver.signIn == signIn { leavers.removeValue(forKey: id)?.continuation.resume() }
    }

    private func start(_ wait: Machine.Wait, of lane: Machine.Lane) {
        waits[lane]?.task.cancel()
        let time: Duration
        switch wait {
        case .exactly(let duration): time = duration
        case .backoff(let least):
            let count = failures[lane, default: 0]
            failures[lane] = count + 1
            let longest = min(Self.firstWait * (1 << min(count, 20)), Self.longestWait)
            // At least half of the wait, so that a phone never asks in a tight loop, and never before the time that the API has named.
            time = max(longest * (0.5 + 0.5 * ports.random()), .zero) + (least ?? .zero)
        }
        let id = UUID()
        let task = Task { [weak self, ports] in
            guard (try? await ports.time.sleep(time)) != nil else { return }
            await self?.ended(id, of: lane)
        }
        waits[lane] = (id, task)
    }

    /// Goes on after a wait, unless another has taken its place.
    private func ended(_ id: UUID, of lane: Machine.Lane) async {
        guard waits[lane]?.id == id else { return }
        waits[lane] = nil
        await send(.resumed(lane))
    }

    /// Returns when the logout of a sign-in has been tried, or the deadline of a sign-out has passed.
    func waitForLogOut(of signIn: String) async {
        let id = UUID()
        let deadline = Task { [weak self, ports] in
            try? await ports.time.sleep(Self.signOutDeadline)
            await self?.endWait(id)
        }
        await withCheckedContinuation { continuation in
            if tried.contains(signIn) { continuation.resume() } else { leavers[id] = (signIn, continuation) }
        }
        deadline.cancel()
    }

    private func endWait(_ id: UUID) { leavers.removeValue(forKey: id)?.continuation.resume() }
}
