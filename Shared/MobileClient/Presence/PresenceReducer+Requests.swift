extension PresenceReducer {
    /// Takes over the outcome of a request.
    static func finish(_ state: inout State, _ conversation: String?, _ answer: Answer) -> [Effect] {
        switch (answer, conversation) {
        case (.accepted, let conversation?):
            state.told = .conversation(conversation)
            state.isRenewalDue = false
            return [.wait(.renewal), .wait(.lapse)]
        case (.accepted, nil), (.refused, nil):
            // There is no lease where there is no sign-in or no installation.
            state.told = .none
            return [.stopWaiting(.lapse)]
        case (.refused, let conversation?):
            state.refused = conversation
            // The API may still have an earlier conversation, which is not on the screen or is no longer renewed.
            if state.told != .none { state.told = .unknown }
            return []
        case (.failed(let time), _):
            state.told = .unknown
            state.pause = time == nil ? .retry : .told
            // Counts from now: a request whose answer is lost was handled by then.
            return (conversation == nil ? [] : [.wait(.lapse)]) + [.wait(.retry(atLeast: time))]
        }
    }

    /// Sends the conversation on the screen, if the API does not have it or is about to drop it.
    static func next(_ state: inout State) -> [Effect] {
        guard state.request == nil, state.isOnline, state.pause == nil else { return [] }
        let visible = state.visible == state.refused ? nil : state.visible
        if let visible {
            guard state.told != .conversation(visible) || state.isRenewalDue else { return [] }
        } else {
            state.isRenewalDue = false
            guard state.told != .none else { return [] }
        }
        state.isRenewalDue = false
        state.request = Request(conversation: visible)
        return (visible == nil ? [.stopWaiting(.renewal)] : []) + [.send(visible)]
    }
}
