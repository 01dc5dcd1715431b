internal import Foundation

/// Completion handlers of the system, and notifications in place of a push.
extension BackgroundUploadReducer {
    static func reduceWakeUps(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .wokenUp(let handler):
            // A session that was created at the launch may have delivered everything before the system says why it has launched the app.
            state.wakeUps.append(WakeUp(handler: handler, isFinished: state.hasUnclaimedFinish))
            state.hasUnclaimedFinish = false
            return [.armDeadline(handler: handler)] + unpark(&state)
        case .sessionFinished:
            // In the foreground it belongs to no wake-up, and must not be taken for the end of a later one.
            state.hasUnclaimedFinish = state.wakeUps.allSatisfy(\.isFinished) && !state.isForeground
            for index in state.wakeUps.indices { state.wakeUps[index].isFinished = true }
            return []
        case .deadline(let handler):
            // It stays, so that the end of its events is not taken for the one of a later wake-up.
            guard let index = state.wakeUps.firstIndex(where: { $0.handler == handler && !$0.isCalled }) else { return [] }
            state.wakeUps[index].isCalled = true
            return [.callHandler(handler)]
        case .foreground:
            state.isForeground = true
            state.hasUnclaimedFinish = false
            for job in state.notices.keys { state.notices[job] = .decided }
            return unpark(&state)
        case .background:
            state.isForeground = false
            return []
        default:
            return []
        }
    }

    /// Calls the handlers of the wake-ups whose events are delivered, when no work is in progress that a suspended process could not
    /// finish.
    static func callHandlers(_ state: inout State) -> [Effect] {
        let isBusy =
            state.bearer != nil || state.notices.values.contains { $0 != .decided }
            || state.uploads.values.contains {
                switch $0.phase {
                case .creating, .saving, .ended: true
                case .waiting, .parked, .live: false
                }
            }
        guard !isBusy else { return [] }
        let finished = state.wakeUps.filter(\.isFinished)
        state.wakeUps.removeAll(where: \.isFinished)
        return finished.filter { !$0.isCalled }.map { .callHandler($0.handler) }
    }

    /// Shows a notification of a job that is completed while the app is in the background, unless a push does.
    static func reduceNotices(_ state: inout State, _ event: Event) -> [Effect] {
        switch event {
        case .jobCompleted(let job) where state.notices[job] == nil:
            state.notices[job] = state.isForeground ? .decided : .waiting
            return state.isForeground ? [] : [.waitForPush(job)]
        case .pushShown(let job):
            let isNew = state.notices.updateValue(.decided, forKey: job) != .decided
            // It counts as shown even after a restart, when the person has removed the push.
            return isNew ? [.claimNotice(job)] : []
        case .pushGraceEnded(let job) where state.notices[job] == .waiting:
            state.notices[job] = .checking
            return [.checkShown(job)]
        case .shown(let job, let isShown) where state.notices[job] == .checking:
            state.notices[job] = isShown ? .decided : .claiming
            return isShown ? [] : [.claimNotice(job)]
        case .claimed(let job, let isFirst) where state.notices[job] == .claiming:
            state.notices[job] = .decided
            return isFirst ? [.notify(job)] : []
        default:
            return []
        }
    }
}
