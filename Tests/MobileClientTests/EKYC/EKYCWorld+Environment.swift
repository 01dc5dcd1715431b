@testable import MobileClient

/// The API, the network, time, and the person.
extension EKYCWorld {
    func steps() -> [(name: String, world: Self)] {
        guard !isOver else { return [] }
        var steps = serverSteps() + timeSteps() + retakeSteps()
        guard let state else { return steps + [("a new process begins", launching())] }
        if crashes > 0 { steps += crashing() }
        if !effects.isEmpty { return steps + performing() }
        if isStopping {
            return steps + [("the credentials are wiped", with { ($0.isStopping, $0.isStopped, $0.hasCredentials) = (false, true, false) })]
        }
        if let answer = flight?.answer {
            steps.append(("the answer arrives", with { $0.arrive(answer) }))
        } else if isPausing {
            steps.append(("the pause ends", with { $0.endPause() }))
        }
        if flight != nil, losses > 0 { steps.append(("the connection is lost", with { $0.lose() })) }
        if pushes > 0, verdict != .none {
            steps.append(("a push arrives", with { $0.bePushed() }))
        }
        if hasReported, !isAcknowledging {
            steps.append(("the app takes the outcome", with { $0.acknowledge() }))
        }
        if entries > 0, case .awaitingCode = state.phase, !isStopped {
            for code in ["right", "wrong"] { steps.append(("the person enters the \(code) code", with { $0.enter(code) })) }
        }
        if stops > 0, state.phase != .new, !isStopped {
            steps.append(("the person signs out", with { $0.signOut() }))
        }
        return steps
    }

    private mutating func enter(_ code: String) {
        entries -= 1
        send(.codeEntered(code))
    }

    private mutating func acknowledge() {
        isAcknowledging = true
        send(.acknowledged)
    }

    private mutating func arrive(_ answer: Machine.Event) {
        flight = nil
        if answer == .postFailed(Self.refusal(409)) { isChallengeRefused = true }
        send(answer)
    }

    private mutating func bePushed() {
        pushes -= 1
        send(.woken(age))
    }

    private mutating func signOut() {
        stops -= 1
        (isStopping, hasSignedOut) = (true, true)
        send(.stop(.signedOut))
    }

    private mutating func endPause() {
        isPausing = false
        send(.pauseEnded(age))
    }

    /// The request, or its answer, does not arrive.
    private mutating func lose() {
        losses -= 1
        guard let lost = flight else { return }
        flight = nil
        if lost.isOfTokens { hasRequestDied = true }
        switch lost.kind {
        case .post: send(.postFailed(Self.unreachable))
        case .ask: send(.askFailed(Self.unreachable))
        case .redeem: send(.redeemFailed(Self.unreachable, age, isSignedIn: hasCredentials))
        }
    }

    private func serverSteps() -> [(name: String, world: Self)] {
        var steps: [(name: String, world: Self)] = []
        if let flight, flight.answer == nil { steps += answers() }
        if verdict == .undecided {
            for next in [Verdict.succeeded, .failed, .expired] where next != .expired || age != .repeatable {
                steps.append(("the API decides: \(next)", with { $0.verdict = next }))
            }
        }
        if confirmations > 0, isCodeMailed, !isVerified, age != .over {
            steps.append(("another device confirms", with { ($0.confirmations, $0.isVerified, $0.isTooLate) = (0, true, false) }))
            steps.append(("another device denies", with { ($0.confirmations, $0.isVerified, $0.isRevoked) = (0, true, true) }))
        }
        if hasCredentials, isRedeemed, !isRefreshed, state != nil {
            steps.append(("the tokens are refreshed", with { $0.isRefreshed = true }))
        }
        return steps
    }

    private func timeSteps() -> [(name: String, world: Self)] {
        guard passesTime else { return [] }
        var steps: [(name: String, world: Self)] = []
        if hasChallenge, !isChallengeOver { steps.append(("the challenge ends", with { $0.isChallengeOver = true })) }
        if verdict == .succeeded, kind == .signIn, !isTooLate { steps.append(("five minutes pass", with { $0.isTooLate = true })) }
        // The API recognises a repetition by the time at which it gets it; the device has a minute for the way there.
        if flight?.kind != .post, !effects.contains(.post), let older = Machine.Age(rawValue: age.rawValue + 1),
            age != .known || verdict != .undecided
        {
            steps.append(("time passes: \(older)", with { ($0.age, $0.isTooLate) = (older, $0.isTooLate || older == .over) }))
        }
        return steps
    }

    private func retakeSteps() -> [(name: String, world: Self)] {
        if mayBeRetaken { return [("the time for a retake is over", with { $0.isRetakeOver = true })] }
        guard isRetakeOver, isAwaitingRetake, effects.isEmpty else { return [] }
        return [("the device knows that the time is over", with { $0.endRetakes() })]
    }

    /// Whether the device knows of a failure whose photos the API has kept.
    var mayBeRetaken: Bool {
        guard case .ended(let outcome) = record else { return false }
        return outcome.retakeUntil != nil && !isRetakeOver
    }

    mutating func endRetakes() {
        isAwaitingRetake = false
        send(.retakeClosed)
    }

    /// The answers that the API may give to the request under way.
    func answers() -> [(name: String, world: Self)] {
        guard let kind = flight?.kind else { return [] }
        switch kind {
        case .post: return answersToPost()
        case .ask: return [("the API answers", answering(answerToQuestion))]
        case .redeem(let code) where needsCode && !isVerified && !isRedeemed && age != .over && (isCodeMailed || !isTooLate):
            return answersOfNewDevice(code)
        case .redeem:
            guard verdict == .succeeded, !isTooLate, !isRefreshed, !isRevoked, age != .over else {
                let refused = Machine.Event.redeemFailed(Self.refusal(403), age, isSignedIn: hasCredentials)
                return [("the API refuses to redeem", answering(refused))]
            }
            return [("the API redeems", answering(.redeemed(Self.tokens)) { $0.isRedeemed = true })]
        }
    }

    /// The answers about a device that is new to the account: the first request has a code mailed, and a code is right or wrong.
    private func answersOfNewDevice(_ code: String?) -> [(name: String, world: Self)] {
        func refusal(_ fault: Machine.Fault) -> Self {
            answering(.redeemFailed(fault, age, isSignedIn: hasCredentials)) { $0.isCodeMailed = true }
        }
        switch code {
        case "right" where isCodeMailed:
            return [
                (
                    "the API takes the code",
                    answering(.redeemed(Self.tokens)) { ($0.isVerified, $0.isRedeemed, $0.isTooLate) = (true, true, false) }
                )
            ]
        case .some where isCodeMailed: return [("the API refuses the code", refusal(Self.invalidCode))]
        default: return [("the API asks for a code", refusal(Self.verificationRequired))]
        }
    }

    private func answering(_ event: Machine.Event, _ change: (inout Self) -> Void = { _ in }) -> Self {
        with {
            $0.flight?.answer = event
            change(&$0)
        }
    }

    private func answersToPost() -> [(name: String, world: Self)] {
        var steps: [(name: String, world: Self)] = []
        if refusals > 0 {
            for status in [401, 429, 503] {
                let refused = Machine.Event.postFailed(Self.refusal(status))
                steps.append(("the API refuses: \(status)", answering(refused) { $0.refusals -= 1 }))
            }
        }
        guard !refusesContent else {
            return steps + [("the API refuses: 400", answering(.postFailed(Self.refusal(400))))]
        }
        // The API looks for an earlier attempt first, and answers that.
        guard !isChallengeOver || sessionsBegun > 0 && age == .repeatable else {
            return steps + [("the API refuses: 409", answering(.postFailed(Self.refusal(409))))]
        }
        let accepted = answering(.accepted(sessionID: Self.id, token: "t")) {
            if $0.sessionsBegun == 0 || $0.age != .repeatable { $0.sessionsBegun += 1 }
            if $0.verdict == .none { $0.verdict = .undecided }
            $0.expect($0.sessionsBegun == 1, "a second session begins")
        }
        return steps + [("the API accepts the photos", accepted)]
    }

    private var answerToQuestion: Machine.Event {
        guard age != .over else { return .askFailed(Self.refusal(404)) }
        switch verdict {
        case .none, .undecided: return .answered(.undecided)
        case .succeeded: return .answered(.succeeded(awaiting: nil))
        case .failed:
            return .answered(.failed(isRetakable ? Self.retakable : EKYCSession.Failure(.noFace, isRetryable: true)))
        case .expired: return .answered(.expired)
        }
    }
}
