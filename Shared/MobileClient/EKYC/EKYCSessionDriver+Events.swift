internal import Foundation

/// The events of a session.
extension EKYCSessionDriver {
    /// Creates the session.
    ///
    /// - Throws: `storage` when the device has no space for it; then no data of it is left.
    func begin() async throws(HeliographError) {
        await send(.begin)
        if let refusal { throw refusal }
    }

    /// Continues a session of a former process, once. On a locked device, whose secrets cannot be read, it waits for the next call.
    func launch() async {
        guard !isLaunched else { return }
        do throws(HeliographError) {
            secret = EKYCSecret(try await ports.secrets.secret(for: EKYCSecret.key(of: id)))
        } catch {
            // An ended session needs no secret, unless its photos can be retaken.
            guard await isDecided, await !mayBeRetaken else { return }
        }
        guard !isLaunched else { return }
        isLaunched = true
        await send(.launched(age, sessionID: secret.session?.id))
    }

    /// Whether the stored outcome lets the app retake photos.
    private var mayBeRetaken: Bool {
        get async {
            guard case .ended(let outcome) = await runner.state.phase, let end = outcome.retakeUntil else { return false }
            return timeLeft(until: end) != nil
        }
    }

    /// Whether the session has no stored data: the app has acknowledged its outcome, or it was not created.
    var isRemoved: Bool { get async { await runner.state.phase == .removed } }

    func acknowledge() async { await send(.acknowledged) }

    func enter(_ code: String) async { await send(.codeEntered(code)) }

    func wake() async { await send(.woken(age)) }

    func stop(_ outcome: EKYCSession.Outcome) async { await send(.stop(outcome)) }

    /// Ends an upload in the name of an account that another is about to take the place of.
    func stopUploadOfAccount() async {
        guard record?.sender == .account, await runner.state.phase == .uploading else { return }
        await stop(.superseded)
    }

    /// The session's id at the API, while it is awaited.
    var sessionID: UUID? { get async { await runner.state.sessionID } }

    /// Whether the session has an outcome.
    var isDecided: Bool {
        get async {
            switch await runner.state.phase {
            case .ended, .removed: true
            case .new, .uploading, .deciding, .awaitingCode, .signingIn: false
            }
        }
    }
}
