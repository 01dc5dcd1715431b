internal import Foundation

/// The effects that the tracker performs for a reducer.
extension JobTracker {
    /// Performs an effect. A request and a wait are begun here and report later, because no other event of the order is handled meanwhile.
    func perform(_ effect: JobReducer.Effect, of id: UUID) async -> [JobReducer.Event] {
        switch effect {
        case .save(let saved): return await save(saved, of: id)
        case .order: order(id)
        case .read(let trigger): request(id) { tracker in .readAnswered(await tracker.read(id, for: trigger)) }
        case .delete: request(id) { tracker in .deleteAnswered(await tracker.delete(id)) }
        case .openStream: return openStream(of: id)
        case .closeStream:
            entries[id]?.stream?.cancel()
            entries[id]?.stream = nil
            streaming.remove(id)
        case .setPollTimer: setTimer(options.pollInterval, of: id)
        case .setRetryTimer(let failures, let seconds): setTimer(delay(failures, seconds), of: id)
        case .stopTimer:
            entries[id]?.timer?.task.cancel()
            entries[id]?.timer = nil
        case .emit(let state):
            emit(state, of: id)
            if case .ended(.completed(let picture)) = state, let jobID = entries[id]?.jobID { await onCompleted(jobID, picture) }
        case .remove: await remove(id)
        }
        return []
    }

    // MARK: The store

    private func save(_ saved: JobReducer.Saved, of id: UUID) async -> [JobReducer.Event] {
        let now = time.now()
        // An error leaves the record of before: after a crash the API is asked again, and answers by the key as it did.
        try? await store.update(id) { task throws(HeliographError) in
            // A record that another process has removed is not written again.
            guard var changed = task else { return }
            try JobRecord.save(saved, in: &changed, at: now)
            task = changed
        }
        if saved.hasEnded {
            entries[id]?.deadline?.cancel()
            entries[id]?.deadline = nil
        }
        guard let jobID = saved.jobID, entries[id] != nil, entries[id]?.jobID == nil else { return [] }
        entries[id]?.jobID = jobID
        ids[jobID] = id
        return earlyPushes[jobID] == nil || saved.hasEnded ? [] : [.pushed]
    }

    private func remove(_ id: UUID) async {
        // If it cannot be removed now, readers get it again after the next launch, or it is swept.
        try? await store.update(id) { $0 = nil }
        guard let entry = entries.removeValue(forKey: id) else { return }
        if let jobID = entry.jobID { ids[jobID] = nil }
        streaming.remove(id)
        entry.cancelTasks()
        if let update = entry.latest { ended.keep(update, for: id) }
    }

    // MARK: Requests

    /// Sends a request, when the gate lets it in, and the event of its answer. The reducer has one at a time.
    private func request(_ id: UUID, _ body: @escaping @Sendable (JobTracker) async -> JobReducer.Event) {
        entries[id]?.request = Task { [weak self, gate] in
            let turn: @Sendable () async -> JobReducer.Event? = { [weak self] in
                guard let self, !Task.isCancelled else { return nil }
                return await body(self)
            }
            if let event = await gate.run(turn) { await self?.send(event, to: id) }
        }
    }

    /// Orders without keeping the tracker: an upload takes as long as the network is away, and ends with its client.
    private func order(_ id: UUID) {
        guard let task = entries[id]?.task else { return }
        let isLate = remaining(task) <= .zero
        entries[id]?.request = Task { [weak self, order] in
            var event = JobReducer.Event.deadlinePassed
            if !isLate {
                do throws(HeliographError) { event = .orderAnswered(.accepted(try await order(task))) } catch {
                    event = .orderAnswered(JobReducer.orderAnswer(error))
                }
            }
            await self?.send(event, to: id)
        }
    }

    private func read(_ id: UUID, for trigger: JobReducer.Trigger) async -> JobReducer.ReadAnswer {
        guard let jobID = entries[id]?.jobID else { return .ended(.expired) }
        do throws(HeliographError) {
            let answer = try await sender.send(JobsRequests.read(jobID, for: trigger, tag: entries[id]?.tag))
            if let tag = answer.tag { entries[id]?.tag = tag }
            return answer.reading
        } catch { return JobReducer.readAnswer(error) }
    }

    private func delete(_ id: UUID) async -> JobReducer.DeleteAnswer {
        guard let jobID = entries[id]?.jobID else { return .gone }
        do throws(HeliographError) {
            try await sender.send(JobsRequests.delete(jobID))
            return .gone
        } catch { return JobReducer.deleteAnswer(error) }
    }

    // MARK: Timers

    private func setTimer(_ duration: Duration, of id: UUID) {
        timers += 1
        let number = timers
        entries[id]?.timer?.task.cancel()
        let task = Task { [weak self, time] in
            do { try await time.sleep(duration) } catch { return }
            await self?.fire(number, of: id)
        }
        entries[id]?.timer = (number, task)
    }

    /// A timer that was replaced while it fired is ignored.
    private func fire(_ number: Int, of id: UUID) async {
        guard entries[id]?.timer?.number == number else { return }
        entries[id]?.timer = nil
        await send(.timerFired, to: id)
    }

    /// Twice as long after each failure, up to a minute, and at least the time that the API named; with jitter, so that devices that fail
    /// together do not come back together.
    private func delay(_ failures: Int, _ retryAfter: Int?) -> Duration {
        let backoff = Duration.seconds(min(60, 1 << failures)) * (0.5 + options.random() / 2)
        return max(backoff, .seconds(retryAfter ?? 0) + (retryAfter == nil ? .zero : .seconds(options.random())))
    }
}
