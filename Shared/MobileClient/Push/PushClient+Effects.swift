internal import Foundation

extension PushClient {
    /// Performs the effects of a ``PushInbox``, except those that its caller has performed; returns the work that continues.
    func perform(_ effects: [PushInbox.Effect], shown: PushMessage? = nil) -> Task<Void, Never> {
        Task {
            if let shown { await onShown(shown) }
            for effect in effects {
                switch effect {
                case .record(let message, let event): await record(message, event)
                case .handle(let message): await handle(message)
                case .badge, .present, .route: continue
                }
            }
        }
    }

    func record(_ message: PushMessage, _ event: PushReceipt.Event) async {
        guard let receipt = PushReceipt(message, event, at: time.now().timeIntervalSince1970) else { return }
        await receipts.record(receipt)
    }

    private func handle(_ message: PushMessage) async {
        switch message.kind {
        case .job(let job): await handlers.jobPush(job)
        case .ekyc(let result): await handlers.sessionPush(result.sessionID)
        case .possessionCheck(let check): await handlers.installNonce(check)
        case .newPhotos, .chatMessage, .invitation, .signInConfirmation, .accountAlert, .app, .badge, .unknown: break
        }
        await handlers.message(message)
        listeners.withLock { $0 }.values.forEach { $0.yield(message) }
    }

    /// Waits for work, but no longer than the system does; the work goes on.
    func withLimit(_ work: Task<Void, Never>) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let timer = Task { [time] in
            guard (try? await time.sleep(Self.backgroundLimit)) != nil else { return }
            end.yield()
        }
        Task {
            await work.value
            end.yield()
        }
        for await _ in ends { break }
        timer.cancel()
    }
}
