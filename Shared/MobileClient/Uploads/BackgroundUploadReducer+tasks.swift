internal import Foundation

/// The ways of an order from its record to its outcome.
extension BackgroundUploadReducer {
    static func launch(_ state: inout State, _ uploads: [UUID: Upload]) -> [Effect] {
        guard !state.isStarted else { return [] }
        state.isStarted = true
        state.uploads = uploads
        let ended = uploads.keys.sorted().flatMap { id -> [Effect] in
            guard case .ended(let ending)? = uploads[id]?.phase else { return [] }
            return [.removeFile(id), .report(id, ending)]
        }
        return [.listTasks] + ended
    }

    /// Brings the orders of the store and the tasks of the session together: an order has one task, and a task has an order.
    static func reconcile(_ state: inout State, _ tasks: [ListedTask], _ now: Date) -> [Effect] {
        var effects: [Effect] = []
        for listed in tasks.sorted(by: { $0.task < $1.task }) {
            if let id = listed.id, state.uploads[id]?.phase == .waiting {
                state.uploads[id]?.phase = .live(listed.task)
            } else {
                effects.append(.cancelTask(listed.task))
            }
        }
        return effects + expire(&state, now)
    }

    static func enqueue(_ state: inout State, _ id: UUID, _ upload: Upload) -> [Effect] {
        if state.uploads[id] == nil { state.uploads[id] = upload }
        return []
    }

    /// Asks for a bearer when an order waits for one; ``useBearer(_:_:)`` then makes the tasks.
    static func orderWaiting(_ state: inout State) -> [Effect] {
        let waiting = state.uploads.values.filter { $0.phase == .waiting }
        guard state.isStarted, state.bearer == nil, !waiting.isEmpty else { return [] }
        let fresh = waiting.contains(where: \.needsFreshBearer)
        state.bearer = fresh ? .fresh : .any
        return [.fetchBearer(fresh: fresh)]
    }

    static func useBearer(_ state: inout State, _ answer: BearerAnswer) -> [Effect] {
        guard let fetch = state.bearer else { return [] }
        state.bearer = nil
        var effects: [Effect] = []
        for id in state.uploads.keys.sorted() {
            guard let upload = state.uploads[id], upload.phase == .waiting else { continue }
            switch answer {
            case .unavailable:
                state.uploads[id]?.phase = .parked
            case .ready(let owner?) where upload.owner != nil && upload.owner != owner:
                effects += end(&state, id, .refused(.signedOut))
            case .ready:
                // A bearer that was asked for before the refusal may be the refused one: the order waits for a new one.
                guard fetch == .fresh || !upload.needsFreshBearer else { continue }
                state.uploads[id]?.phase = .creating
                state.uploads[id]?.hasFreshBearer = upload.needsFreshBearer
                state.uploads[id]?.needsFreshBearer = false
                state.uploads[id]?.delay = 0
                effects.append(.create(id, delay: upload.delay))
            }
        }
        if case .unavailable = answer { effects.append(.waitForBearer) }
        return effects
    }

    static func adopt(_ state: inout State, _ id: UUID, _ task: Int) -> [Effect] {
        guard state.uploads[id]?.phase == .creating else { return [.cancelTask(task)] }
        state.uploads[id]?.phase = .live(task)
        return []
    }

    static func complete(_ state: inout State, _ id: UUID, _ task: Int, _ outcome: Outcome) -> [Effect] {
        // The events that are delivered now belong to an unfinished batch.
        state.hasUnclaimedFinish = false
        guard let upload = state.uploads[id] else { return [] }
        let isCurrent = upload.phase == .live(task)
        let hasOther = if case .live = upload.phase { !isCurrent } else { false }
        switch outcome {
        case .accepted(let jobID):
            // This may be a task that the list had left out, so that a second task was made.
            if isCurrent { state.uploads[id]?.phase = .waiting }
            return end(&state, id, .accepted(jobID: jobID))
        case .refused(let refusal):
            guard !hasOther else { return [] }
            if isCurrent { state.uploads[id]?.phase = .waiting }
            return end(&state, id, .refused(refusal))
        case .unauthorized(let refusal):
            guard isCurrent else { return [] }
            state.uploads[id]?.phase = .waiting
            guard !upload.hasFreshBearer else { return end(&state, id, .refused(refusal)) }
            state.uploads[id]?.needsFreshBearer = true
            return []
        case .again(let seconds, let refusal, let isCounted):
            guard isCurrent else { return [] }
            state.uploads[id]?.phase = .waiting
            let attempts = upload.attempts + 1
            if isCounted, attempts >= Limits.attempts { return end(&state, id, .refused(refusal)) }
            state.uploads[id]?.attempts = attempts
            let limit = isCounted ? Limits.delay : Limits.delayWithoutAnswer
            state.uploads[id]?.delay = min(max(seconds ?? 0, 1 << min(attempts, 10)), limit)
            return [.saveAttempts(id, attempts)]
        }
    }
}
