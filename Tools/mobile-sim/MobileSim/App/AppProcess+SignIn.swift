internal import Foundation
internal import MobileClient
internal import Synchronization

/// How the person of a phone gets into an account.
extension AppProcess {
    /// The failures in a row after which the person gives up.
    private static let maxFailures = 8

    /// Takes the next step to a sign-in.
    func signIn() async {
        guard phone.memory.withLock({ $0.failures }) < Self.maxFailures else { return }
        switch phone.plan.kind {
        case .firebase: await signInWithFirebase()
        case .enrolling, .sharing:
            // A session goes on by itself.
            guard phone.ledger.withLock({ $0.openSessions.isEmpty }) else { return }
            await signInByFace()
        }
    }

    private func signInWithFirebase() async {
        phone.memory.withLock { memory in
            memory.firebase = memory.firebase ?? "\(phone.world.name)-\(phone.index)-\(memory.accountNumber)"
        }
        _ = await attempt("sign-in with Firebase") { () async throws(HeliographError) in try await client.signedInWithFirebase() }
        guard
            let profile = await attempt(
                "profile", { () async throws(HeliographError) in try await client.account.profile() })
        else { return }
        signedIn(profile.userID)
    }

    private func signedIn(_ user: UUID) {
        let name = user.uuidString.lowercased()
        let isMember = phone.memory.withLock { memory in
            memory.account = name
            memory.member = memory.member ?? name
            return memory.member == name
        }
        if isMember { phone.world.directory.join(phone.index, as: user) }
    }

    private func signInByFace() async {
        let (email, enrolment) = phone.memory.withLock { ($0.email, $0.enrolment) }
        guard let email else { return await chooseAccount() }
        switch enrolment {
        case .none: await register(email)
        case .registered(let verification): await enterCode(email, verification)
        case .verified(let token): await signUp(token)
        case .enrolled: await showFace(email)
        }
    }

    /// An enrolling phone has an account of its own at first; the others have one of another phone.
    private func chooseAccount() async {
        if phone.plan.kind == .enrolling, phone.memory.withLock({ $0.accountNumber }) == 0 {
            return phone.memory.withLock { $0.email = "\(phone.world.name)-\(phone.index)@example.com" }
        }
        guard let account = phone.draw({ phone.world.directory.account(besides: nil, &$0) }) else { return }
        phone.memory.withLock { memory in
            memory.email = account.email
            memory.userOfEmail = account.user
            memory.enrolment = .enrolled
        }
    }

    private func register(_ email: String) async {
        guard
            let verification = await attempt(
                "register", times: 1, { () async throws(HeliographError) in try await client.account.register(email: email) })
        else { return phone.memory.withLock { $0.failures += 1 } }
        phone.memory.withLock { $0.enrolment = .registered(verification) }
    }

    private func signUp(_ token: String) async {
        let consent = await attempt("consent") { () async throws(HeliographError) in try await client.account.consent() }
        guard await incarnation.pass(.step) else { return }
        let mark = phone.world.scenario.acceptsCopies ? UUID() : nil
        let photos = phone.world.photos.signUp(mark)
        let shown = await presentation(for: .signUp, mark)
        guard await incarnation.pass(.step) else { return }
        let session = await attempt("sign-up", times: 1) { () async throws(HeliographError) in
            try await client.ekyc.signUp(photos, as: .enrolment(token: token), consent: consent??.version, answering: shown?.answer)
        }
        if let session { return follow(session, showing: shown?.poses) }
        guard await incarnation.pass(.step) else { return }
        phone.memory.withLock { memory in
            memory.enrolment = .none
            memory.failures += 1
        }
    }

    private func showFace(_ email: String) async {
        let isStranger = phone.memory.withLock { memory in
            defer { memory.hasTriedStranger = true }
            return !memory.hasTriedStranger
        }
        let tries = isStranger && phone.draw { $0.chance(phone.world.scenario.strangers) }
        let photos = phone.world.photos
        let mark = phone.world.scenario.acceptsCopies ? UUID() : nil
        if tries { phone.world.measurements.count(.stranger) }
        let shown = tries ? nil : await presentation(for: .signIn, mark)
        guard await incarnation.pass(.step) else { return }
        var faces = shown?.photos ?? PhotoBook.copies(tries ? photos.stranger : photos.signIn, mark)
        phone.memory.withLock { $0.faces = faces }
        if !tries, let mark, phone.draw({ $0.chance(phone.world.scenario.badPhotos) }) {
            faces[1] = .data(PhotoBook.varied(photos.noFace, by: mark))
            phone.world.measurements.count(.badPhoto)
        }
        let session = await attempt("sign-in", times: 1) { () async throws(HeliographError) in
            try await client.ekyc.signIn(faces, email: email, answering: shown?.challenge)
        }
        if let session { return follow(session, as: tries, showing: shown?.poses) }
        guard await incarnation.pass(.step) else { return }
        phone.memory.withLock { $0.failures += 1 }
    }
}
