internal import Foundation
internal import MobileClient
internal import Synchronization

/// How the app follows sessions by face.
extension AppProcess {
    /// Takes the sessions that earlier processes have begun.
    func resumeSessions() async {
        guard phone.plan.kind != .firebase else { return }
        let open = phone.ledger.withLock { $0.openSessions }
        let sessions = await attempt("pending sessions") { () async throws(HeliographError) in try await client.ekyc.pending() }
        guard let sessions, await incarnation.pass(.step) else { return }
        phone.violate(phone.ledger.withLock { $0.forgotten(open, besides: Set(sessions.map(\.id))) })
        for session in sessions { follow(session) }
    }

    /// Hears how a session ends.
    func follow(_ session: EKYCSession, as stranger: Bool = false, showing poses: ShownPoses? = nil) {
        guard followed.withLock({ $0.insert(session.id).inserted }) else { return }
        let user = phone.memory.withLock { $0.userOfEmail }
        phone.ledger.withLock {
            $0.sessionBegan(
                session.id, session.kind.rawValue, for: stranger ? "" : session.kind == .signIn ? user : nil, showing: poses)
        }
        let start = ContinuousClock.now
        if session.kind == .signIn { Task { await self.enterCodes(of: session) } }
        Task {
            let outcome = await session.result()
            guard await incarnation.pass(.step) else { return }
            // Before the end is noted, so that the person begins no other sign-in meanwhile.
            await retake(outcome.photosToRetake ?? [], of: session)
            guard await incarnation.pass(.step) else { return }
            ended(session, outcome, after: (ContinuousClock.now - start) / .seconds(1))
            await session.acknowledge()
            guard await incarnation.pass(.step) else { return }
            phone.ledger.withLock { $0.sessionAcknowledged(session.id) }
        }
    }

    /// Takes the bad photos of a sign-in again; in this process, or in one after it.
    private func retake(_ bad: [EKYCSession.BadPhoto], of session: EKYCSession) async {
        guard session.kind == .signIn, !bad.isEmpty else { return }
        let faces = phone.memory.withLock { $0.faces }
        let photos = bad.compactMap { faces.indices.contains($0.index) ? faces[$0.index] : nil }
        let retake = await attempt("retake", times: 1) { () async throws(HeliographError) in
            try await client.ekyc.retake(photos, of: session)
        }
        let former = phone.ledger.withLock { $0.sessions[session.id] }
        if let retake { follow(retake, as: former?.expectedUser == "", showing: former?.poses) }
    }

    private func ended(_ session: EKYCSession, _ outcome: EKYCSession.Outcome, after seconds: Double) {
        let (name, user) = Self.name(outcome)
        phone.note("Session \(session.id) (\(session.kind.rawValue)) ended: \(name)")
        let liveness = Self.liveness(outcome)
        let (findings, isFirst, poses) = phone.ledger.withLock { ledger in
            let findings = ledger.sessionEnded(session.id, as: name, user: user, liveness: liveness, in: incarnation.number)
            let kept = ledger.sessions[session.id]
            return (findings, kept?.ends.told.count == 1, kept?.poses)
        }
        phone.violate(findings)
        phone.world.measurements.change { contents in
            guard isFirst else { return }
            contents.sessionEnds["\(session.kind.rawValue): \(name)", default: 0] += 1
            if let poses { contents.challenges["\(poses.rawValue): \(liveness?.rawValue ?? name)", default: 0] += 1 }
            if user != nil || name == "enrolled" { contents.sessions[session.kind.rawValue, default: Samples()].add(seconds) }
        }
        let isSuccess = user != nil || name == "enrolled"
        let isRefusedChallenge = if case .refused = outcome { outcome.asksForChallenge } else { false }
        phone.memory.withLock { memory in
            // A person who was too slow for a challenge, because of the network, tries again.
            memory.failures = isSuccess ? 0 : isRefusedChallenge ? memory.failures : memory.failures + 1
            switch (session.kind, outcome) {
            case (.signUp, .enrolled): memory.enrolment = .enrolled
            case (.signUp, .failed(let failure)) where failure.reason == .alreadyEnrolled: memory.enrolment = .enrolled
            case (.signUp, _): memory.enrolment = .none
            case (.signIn, .signedIn(let user)):
                memory.userOfEmail = memory.userOfEmail ?? user
                memory.account = user
            case (.signIn, _): break
            }
        }
        let email = phone.memory.withLock { $0.email }
        if let user, let email { phone.world.directory.enrolled(email, user: user) }
    }

    /// The outcome as text, and the person whom it signs in.
    static func name(_ outcome: EKYCSession.Outcome) -> (String, user: String?) {
        switch outcome {
        case .enrolled: ("enrolled", nil)
        case .signedIn(let user): ("signed in", user)
        case .failed(let failure): ("failed (\(failure.reason.rawValue))", nil)
        case .expired: ("expired", nil)
        case .tooLate: ("too late", nil)
        case .refused(let error): ("refused (\(error.code.rawValue))", nil)
        case .outcomeUnknown: ("outcome unknown", nil)
        case .superseded: ("superseded", nil)
        case .signedOut: ("signed out", nil)
        }
    }
}
