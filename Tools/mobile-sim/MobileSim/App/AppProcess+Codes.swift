internal import Foundation
internal import MobileClient
internal import Synchronization

/// How the person of a phone enters mailed codes.
extension AppProcess {
    /// The seconds that a mail may take beyond the time that the API names. The API does not name a time to a session that goes on in a
    /// later process, and the third mail to an address waits for five minutes.
    private static let timeOfMail = 30
    private static let timeOfCode = 360

    /// Enters the code of a registration.
    func enterCode(_ email: String, _ verification: AccountClient.Verification) async {
        let code = try? await phone.world.emulator.code(
            to: email, beside: verification.reference, wait: Self.timeOfMail + verification.mailAfter)
        guard await incarnation.pass(.step) else { return }
        var verified: AccountClient.Verified?
        if let code {
            verified = await attempt("verify") { () async throws(HeliographError) in
                try await client.account.verify(verification.id, code: code)
            }
        }
        guard await incarnation.pass(.step) else { return }
        phone.memory.withLock { memory in
            if case .registration(let token, _) = verified {
                memory.enrolment = .verified(token: token)
            } else {
                // Another code is asked for.
                memory.enrolment = .none
                memory.failures += 1
            }
        }
    }

    /// Enters the codes that a sign-in on a new device waits for, until the session has ended. Some people mistype one first.
    func enterCodes(of session: EKYCSession) async {
        for await state in session.states {
            guard await incarnation.pass(.step) else { return }
            guard case .awaitingCode(_, let awaited, let attemptsLeft) = state else { continue }
            phone.note("Session \(session.id) waits for a code, with \(attemptsLeft.map { "\($0)" } ?? "all") attempts left")
            if mistypes() {
                phone.world.measurements.count(.mistypedCode)
                await session.enter(code: "000000")
                continue
            }
            guard let email = phone.memory.withLock({ $0.email }), let reference = awaited.reference else { continue }
            let code = try? await phone.world.emulator.code(to: email, beside: reference, wait: Self.timeOfCode)
            guard await incarnation.pass(.step) else { return }
            if let code {
                await session.enter(code: code)
            } else {
                phone.note("No code came for session \(session.id)")
                phone.memory.withLock { $0.failures += 1 }
                return await signOut(another: false)
            }
        }
    }

    /// Whether the person mistypes this code: once a phone at most.
    private func mistypes() -> Bool {
        let mistypes = phone.draw { $0.chance(phone.world.scenario.mistypedCodes) }
        return phone.memory.withLock { memory in
            defer { memory.hasMistypedCode = memory.hasMistypedCode || mistypes }
            return mistypes && !memory.hasMistypedCode
        }
    }
}
