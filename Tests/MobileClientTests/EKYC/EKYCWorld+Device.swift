@testable import MobileClient

/// The device: it performs the effects, and its process ends and begins.
extension EKYCWorld {
    /// Performs the first effect that waits, in each way in which that may go.
    func performing() -> [(name: String, world: Self)] {
        var world = self
        let effect = world.effects.removeFirst()
        let name = "perform \(effect)"
        switch effect {
        case .writeBody:
            world.hasBody = true
            return world.creating(.bodyWritten, name)
        case .createRecord:
            world.record = .uploading
            world.isCreated = true
            world.hasRetakenToken = world.isRetake
            return world.creating(.recordCreated, name)
        case .refuseCreation:
            world.isCreationRefused = true
            world.expect(world.record == nil && !world.hasBody, "a refused creation left something")
        case .post:
            world.expect(world.record == .uploading, "the photos are sent without a record")
            world.expect(world.hasBody, "there are no photos to send")
            world.expect(!world.isRetake || world.hasRetakenToken, "a retake is sent without the token of the failed session")
            world.flight = Flight(kind: .post)
        case .saveToken: (world.hasSecret, world.hasRetakenToken) = (true, false)
        case .save(let phase): world.record = phase
        case .deleteBody: world.hasBody = false
        case .ask:
            world.expect(!world.hasBody, "the photos are kept although the API has them")
            world.flight = Flight(kind: .ask)
        case .redeem(let code):
            world.expect(world.kind == .signIn, "a sign-up is redeemed")
            world.expect(!world.hasBody, "the photos are kept although the API has them")
            world.flight = Flight(kind: .redeem(code: code))
        case .store:
            return world.storing(name)
        case .discard: world.isRevoked = true
        case .pause: world.isPausing = true
        case .cancel:
            (world.isPausing, world.isAwaitingRetake) = (false, false)
            return world.losingFlight(name)
        case .show: break
        case .deleteSecret:
            let isDone = world.isRetaken || world.isAcknowledging || world.isStopping
            world.expect(isDone || !world.mayBeRetaken || !world.hasSecret, "the token is deleted although a retake may use it")
            (world.hasSecret, world.hasRetakenToken) = (false, false)
        case .awaitRetake:
            world.isAwaitingRetake = true
            if world.isRetakeOver { world.endRetakes() }
        case .report(let outcome): world.check(outcome)
        case .removeRecord:
            let isDone = world.isAcknowledging || world.isStopping || !world.isCreated
            world.expect(isDone, "the record is removed although the app has not taken the outcome")
            world.record = nil
            world.isAcknowledged = true
        }
        return [(name, world)]
    }

    private func creating(_ event: Machine.Event, _ name: String) -> [(name: String, world: Self)] {
        let written = (name, with { $0.send(event) })
        guard storageFaults > 0 else { return [written] }
        // The file may be there although its writing failed.
        let failed = with {
            $0.storageFaults -= 1
            $0.isCreated = false
            $0.send(.creationFailed(Machine.Fault(HeliographError(.storage, ""))))
        }
        return [written, (name + ", which fails", failed)]
    }

    private func storing(_ name: String) -> [(name: String, world: Self)] {
        let stored = with {
            $0.expect(!$0.isStopped && !$0.isSuperseded, "tokens are stored after the session was stopped")
            $0.expect($0.isRedeemed, "tokens are stored that the API did not give")
            $0.hasCredentials = true
            $0.hasStored = true
            $0.send(.stored)
        }
        guard storageFaults > 0 else { return [(name, stored)] }
        let failed = with {
            $0.storageFaults -= 1
            $0.send(.storingFailed($0.age, isSignedIn: $0.hasCredentials))
        }
        return [(name, stored), (name + ", which fails", failed)]
    }

    /// The request under way is given up: the API may get it nevertheless.
    private func losingFlight(_ name: String) -> [(name: String, world: Self)] {
        guard let flight else { return [(name, self)] }
        let lost = with { $0.flight = nil }
        guard flight.answer == nil, flight.kind != .ask else { return [(name, lost)] }
        return [(name, lost)] + answers().map { (name + ", but \($0.name)", $0.world.with { $0.flight = nil }) }
    }

    /// The end of the process, and what the API gets of its request.
    func crashing() -> [(name: String, world: Self)] {
        let dead = with {
            $0.crashes -= 1
            ($0.hasReported, $0.isAcknowledging) = (false, false)
            // What it has heard and not kept is lost.
            $0.isChallengeRefused = false
            if $0.flight?.isOfTokens ?? false { $0.hasRequestDied = true }
            if $0.effects.contains(where: \.hasTokens) { $0.hasRequestDied = true }
            if case .pausing(before: .store)? = $0.state?.activity { $0.hasRequestDied = true }
            $0.isStopping = false
            $0.state = nil
            $0.effects = []
            ($0.isPausing, $0.isAwaitingRetake) = (false, false)
        }
        return dead.losingFlight("the process ends")
    }

    func launching() -> Self {
        with {
            // What no record names is swept.
            if $0.record == nil { ($0.hasBody, $0.hasSecret, $0.hasRetakenToken) = (false, false, false) }
            $0.state = Machine.State(kind: kind, phase: $0.record ?? .removed, quickAsksLeft: 1)
            $0.send(.launched($0.age, sessionID: $0.hasSecret ? Self.id : nil))
        }
    }

    private mutating func check(_ outcome: EKYCSession.Outcome) {
        reports.append(outcome)
        expect(reports.allSatisfy { $0 == outcome }, "different outcomes are reported")
        expect(!hasReported, "the outcome is reported twice in a process")
        expect(!isAcknowledged, "the outcome is reported again after the app has taken it")
        hasReported = true
        switch outcome {
        case .enrolled: expect(kind == .signUp && verdict == .succeeded, "an enrolment is reported that is none")
        case .signedIn: expect(hasStored, "a sign-in is reported before its tokens are stored")
        case .failed: expect(verdict == .failed, "a failure is reported that is none")
        case .tooLate: expect((isTooLate || isRevoked) && !hasStored, "a sign-in is reported as too late that is not")
        case .expired: expect(verdict == .expired || age == .over, "an expiry is reported that is none")
        case .refused: expect(sessionsBegun == 0, "a refusal is reported although a session began")
        case .outcomeUnknown:
            expect(age != .repeatable || refusals < EKYCModels.refusals, "a session is given up that can be repeated")
            expect(!isChallengeRefused, "an outcome is unknown although the challenge was refused")
        case .superseded, .signedOut: expect(stops == 0, "a stop is reported that is none")
        }
    }
}

extension EKYCSessionReducer.Effect {
    /// Whether the effect does something with tokens, which a process that ends before it forgets.
    var hasTokens: Bool {
        switch self {
        case .store, .discard: true
        default: false
        }
    }
}
