internal import Foundation

extension EKYCSessionDriver {
    func perform(_ effect: Machine.Effect) async -> [Machine.Event] {
        switch effect {
        case .writeBody: return [await writeBody()]
        case .createRecord: return [await createRecord()]
        case .refuseCreation(let fault): refusal = fault.error
        case .post: start(post())
        case .saveToken(let sessionID, let token): await saveToken(sessionID, token)
        case .save(let phase): await save(phase)
        case .deleteBody: deleteBody()
        case .ask(let seconds):
            becomeBusy()
            await keepSecretLater()
            start(ask(seconds))
        case .redeem(let code): start(redeem(code))
        case .store(let tokens): return [await store(tokens)]
        case .discard(let tokens): discard(tokens)
        case .pause(let milliseconds):
            pause(milliseconds)
            return takePush()
        case .cancel: cancel()
        case .show(let state):
            await session.show(state)
            // The person takes their time.
            if case .awaitingCode = state { becomeQuiet() }
        case .deleteSecret: await deleteSecret()
        case .report(let outcome): await session.show(.ended(outcome))
        case .awaitRetake(let end): return awaitRetake(until: end)
        case .removeRecord: await remove()
        }
        return []
    }

    // MARK: Creation

    private func writeBody() async -> Machine.Event {
        guard let order else { return .creationFailed(Machine.Fault(HeliographError(.internal, "There is nothing to upload"))) }
        do throws(HeliographError) {
            let file = try await ports.store.newFile(extension: EKYCSessionManager.fileExtension)
            body = file
            let written = try await MultipartFileWriter().write(order.parts, to: file)
            self.order = nil
            record = EKYCRecord(kind: kind, sender: order.sender, boundary: written.boundary, retakes: order.retakes)
            secret = order.secret
            return .bodyWritten
        } catch {
            return .creationFailed(Machine.Fault(error))
        }
    }

    private func createRecord() async -> Machine.Event {
        guard let record, let body else { return .creationFailed(Machine.Fault(HeliographError(.internal, "There is no form"))) }
        do throws(HeliographError) {
            var task = try PendingTask(id: id, kind: .ekycSession, createdAt: createdAt, encoding: record)
            task.files = [ports.store.path(of: body)]
            // Named from the beginning, so that it is removed with the task whenever that is.
            task.secrets = [EKYCSecret.key(of: id)]
            let new = task
            // Before the record: a session that the next process finds has what its upload needs.
            let isKept = await keepSecret()
            guard isKept || !secret.isNeeded else { throw HeliographError(.storage, "The secrets of the upload cannot be kept") }
            try await ports.store.update(id) { $0 = new }
            return .recordCreated
        } catch {
            return .creationFailed(Machine.Fault(error))
        }
    }

    // MARK: What is kept

    /// The session continues when the disk is full or the Keychain is locked: unsaved data is lost only if the process ends.
    private func save(_ phase: Machine.Phase) async {
        record?.phase = phase
        guard let record else { return }
        if needsUpload { return }
        let now = ports.time.now()
        try? await ports.store.update(id) { task throws(HeliographError) in
            try task?.encode(record)
            switch phase {
            case .deciding(let sessionID): task?.remoteID = sessionID.wireText
            case .ended: task?.finishedAt = now
            case .new, .uploading, .awaitingCode, .signingIn, .removed: break
            }
        }
    }

    private func saveToken(_ sessionID: UUID, _ token: String) async {
        // The token of a failed session has done its part. The bearer stays for a retake of this one.
        secret.session = EKYCSecret.Session(id: sessionID, token: token)
        secret.retaken = nil
        isTokenKept = await keepSecret()
        wasPushed = await hooks.didBegin(sessionID)
    }

    /// Whether a later process could find the session only by repeating the upload, because its token is not stored. Then the record stays
    /// in the state of an upload, and the photos stay.
    private var needsUpload: Bool {
        switch record?.phase {
        case .deciding, .awaitingCode, .signingIn: !isTokenKept
        case .new, .uploading, .ended, .removed, nil: false
        }
    }

    private func keepSecret() async -> Bool { (try? await ports.secrets.set(secret.text, for: EKYCSecret.key(of: id))) != nil }

    /// Keeps a token that could not be kept before, because the disk was full, and with it what waited for that.
    private func keepSecretLater() async {
        guard needsUpload, let record, await keepSecret() else { return }
        isTokenKept = true
        await save(record.phase)
        deleteBody()
    }

    /// A push that overtook the answer to the upload is a reason to ask at once.
    private func takePush() -> [Machine.Event] {
        defer { wasPushed = false }
        return wasPushed ? [.woken(age)] : []
    }

    private func deleteSecret() async {
        try? await ports.secrets.remove(EKYCSecret.key(of: id))
        becomeQuiet()
    }

    /// The record names the file until it is removed itself, and so has it removed again.
    private func deleteBody() {
        guard let body, !needsUpload else { return }
        try? ports.store.operations.remove(body)
    }

    private func remove() async {
        try? await ports.store.update(id) { $0 = nil }
        becomeQuiet()
    }

    // MARK: Tokens and time

    private func store(_ tokens: AccountTokens) async -> Machine.Event {
        await hooks.willSignIn(id)
        do {
            try await ports.signIn(tokens)
            return .stored
        } catch {
            return .storingFailed(age, isSignedIn: await ports.isSignedIn(tokens.userID))
        }
    }

    private func discard(_ tokens: AccountTokens) {
        // Once and without an outcome: the app does not wait for it.
        let sender = ports.sender
        Task { try? await sender.send(EKYCRequests.discard(tokens)) }
    }

    private func pause(_ milliseconds: Int) {
        becomeQuiet()
        start { [createdAt, time = ports.time] in
            do { try await time.sleep(.milliseconds(milliseconds)) } catch { return nil }
            return .pauseEnded(Self.age(since: createdAt, time))
        }
    }
}
