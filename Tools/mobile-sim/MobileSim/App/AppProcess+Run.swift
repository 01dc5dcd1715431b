internal import Foundation
internal import MobileClient
internal import Synchronization

/// The actions of the app from its launch on.
extension AppProcess {
    /// The pause between two looks at what there is to do, in seconds.
    private static let pause = 0.7

    func run() async {
        guard await start() else { return }
        await resumeSessions()
        await openNotifications()
        while await incarnation.pass(.step) {
            await step()
            try? await Task.sleep(for: .seconds(Self.pause))
        }
    }

    private func start() async -> Bool {
        do throws(HeliographError) { try await client.start() } catch {
            guard await incarnation.pass(.step) else { return false }
            phone.violate(.start, "start() failed: \(error)")
            return false
        }
        if let token = phone.memory.withLock({ $0.token }) { await client.pushTokenChanged(token) }
        if phone.state.withLock({ $0.isForeground }) { await client.enterForeground() }
        if phone.plan.kind == .firebase {
            if phone.memory.withLock({ $0.firebase }) != nil { try? await client.signedInWithFirebase() }
        } else {
            let session = try? await client.credentials.session()
            guard await incarnation.pass(.step) else { return false }
            phone.memory.withLock { $0.account = session?.userID }
        }
        Task { await self.followOrders() }
        return await incarnation.pass(.step)
    }

    /// Takes the next action: signs in, joins the group, or follows the plan.
    private func step() async {
        guard await isSignedIn() else { return await signIn() }
        await joinGroup()
        let (index, isEnding) = (phone.memory.withLock { $0.nextAction }, phone.state.withLock { $0.isEnding })
        guard !isEnding, index < phone.plan.actions.count, phone.plan.actions[index].time <= phone.world.elapsed,
            await incarnation.pass(.step)
        else { return }
        phone.memory.withLock { $0.nextAction = index + 1 }
        await perform(phone.plan.actions[index].event)
    }

    private func isSignedIn() async -> Bool {
        if phone.plan.kind == .firebase { return phone.memory.withLock { $0.account != nil } }
        let session = try? await client.credentials.session()
        guard await incarnation.pass(.step) else { return false }
        return phone.memory.withLock { memory in
            memory.account = session?.userID
            return session != nil
        }
    }

    // MARK: Orders

    /// Hears how all orders end.
    private func followOrders() async {
        var last: UUID?
        for await update in client.images.updates() {
            guard await incarnation.pass(.step) else { return }
            // Coming back for the next update has acknowledged the end before it.
            if let ended = last { phone.ledger.withLock { $0.orderAcknowledged(ended) } }
            last = update.outcome == nil ? nil : update.id
            guard let outcome = update.outcome else { continue }
            ended(update, outcome)
            if case .completed = outcome, let job = update.jobID, phone.draw({ $0.chance(0.3) }) {
                Task { await self.fetch(job) }
            }
        }
    }

    private func ended(_ update: JobUpdate, _ outcome: JobUpdate.Outcome) {
        let name = Self.name(outcome)
        let account = phone.memory.withLock { $0.account }
        phone.note("Order \(update.id) ended: \(name)")
        let (findings, order) = phone.ledger.withLock { ledger in
            (ledger.orderEnded(update.id, as: name, in: incarnation.number, current: account), ledger.orders[update.id])
        }
        phone.violate(findings)
        let trigger = update.jobID.flatMap { id in phone.state.withLock { $0.triggers[id] } }
        let seconds = order?.orderedAt.map { phone.clock.now.timeIntervalSince($0) }
        let isFirst = order?.ends.told.count == 1
        let minute = phone.world.measurements.minute
        phone.world.measurements.change { contents in
            guard isFirst else { return }
            // A session or order whose id the app had not received before its process ended.
            if order?.orderedAt == nil { contents.orders += 1 }
            contents.orderEnds[name, default: 0] += 1
            contents.endsByMinute[minute, default: 0] += 1
            if name == "completed", let trigger, let seconds { contents.results[trigger, default: Samples()].add(seconds) }
        }
    }

    private func fetch(_ job: String) async {
        let file = phone.root.appending(path: "picture-\(incarnation.number)-\(UUID().uuidString)")
        _ = await attempt("result", times: 2) { () async throws(HeliographError) in try await client.images.result(of: job, to: file) }
        try? FileManager.default.removeItem(at: file)
    }

    static func name(_ outcome: JobUpdate.Outcome) -> String {
        switch outcome {
        case .completed: "completed"
        case .failed(let failure): "failed (\(failure.code))"
        case .expired: "expired"
        case .cancelled: "cancelled"
        case .refused(let failure): "refused (\(failure.code))"
        }
    }

    // MARK: The end of a run

    /// The ids of orders and sessions that the app has begun and whose end it does not know.
    func pending() async -> (orders: [UUID], sessions: [UUID]) {
        await withCheckedContinuation { continuation in
            Task {
                let orders = (try? await client.images.pending())?.map(\.id) ?? []
                let sessions = (try? await client.ekyc.pending()) ?? []
                for session in sessions { follow(session) }
                continuation.resume(returning: (orders, sessions.map(\.id)))
            }
        }
    }

    /// Begins an upload to an event that does not exist: the first upload after a day removes files of other uploads that ended processes
    /// have left.
    func sweepForms() async {
        await untilEnd {
            _ = try? await self.client.events.addPhoto(self.phone.world.photos.portrait, to: "none-\(self.phone.topic)")
        }
    }
}
