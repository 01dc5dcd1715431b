internal import DequeModule
internal import Foundation
internal import HTTPClient
internal import Synchronization

/// Watches pushes arrive at an FCM emulator, and resumes the actions that wait for them.
final class LoadPushes: Sendable {
    /// Duration of one long poll; a waiter's deadline may be exceeded by as much.
    private static let waitSeconds = 1
    /// Kept pushes without a waiter: of actions whose response is still on its way, and of actions that never wait.
    private static let maxUnclaimed = 20_000

    private struct Waiter {
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<ContinuousClock.Instant?, Never>
    }

    private struct State {
        var waiters: [String: Waiter] = [:]
        var unclaimed: [String: ContinuousClock.Instant] = [:]
        var order: Deque<String> = []
        var isOver = false
    }

    private struct Page: Decodable {
        struct Item: Decodable {
            struct Message: Decodable { let data: [String: String]? }
            let message: Message
        }
        let messages: [Item]
        let next: Int
    }

    private let url: String
    private let http: HTTPClient
    private let state = Mutex(State())

    init(emulator: String, http: HTTPClient) {
        url = emulator + "/control/messages"
        self.http = http
    }

    /// The position after the emulator's latest push, to start watching from.
    func endPosition() async throws(LoadFailure) -> Int {
        guard let page = await page(after: .max, wait: 0) else {
            throw LoadFailure(at: nil, "the FCM emulator does not list its pushes: is it running, and as new as this command?")
        }
        return page.next
    }

    /// Polls for pushes until cancelled.
    func watch(from start: Int) async {
        var next = start
        while !Task.isCancelled {
            if let page = await page(after: next, wait: Self.waitSeconds) {
                next = page.next
                let now = ContinuousClock.now
                for item in page.messages {
                    for key in ["session_id", "jobId"] { if let id = item.message.data?[key] { arrive(id, at: now) } }
                }
            } else {
                try? await Task.sleep(for: .milliseconds(500))
            }
            expire { $0.deadline <= .now }
        }
        state.withLock { $0.isOver = true }
        expire { _ in true }
    }

    /// Waits for the push about a session or job; nil when it does not arrive in time.
    func arrival(of id: String, within time: Duration) async -> ContinuousClock.Instant? {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if let instant = state.unclaimed.removeValue(forKey: id) {
                    continuation.resume(returning: instant)
                } else if state.isOver {
                    continuation.resume(returning: nil)
                } else {
                    state.waiters[id] = Waiter(deadline: .now + time, continuation: continuation)
                }
            }
        }
    }

    private func page(after number: Int, wait: Int) async -> Page? {
        let request = HTTPClientRequest(url: "\(url)?after=\(number)&wait=\(wait)", timeout: .seconds(wait + 10))
        guard let response = try? await http.execute(request), response.status == 200 else { return nil }
        return try? JSONDecoder().decode(Page.self, from: Data(response.body))
    }

    private func arrive(_ id: String, at instant: ContinuousClock.Instant) {
        state.withLock { state in
            if let waiter = state.waiters.removeValue(forKey: id) { return waiter.continuation.resume(returning: instant) }
            state.unclaimed[id] = instant
            state.order.append(id)
            if state.order.count > Self.maxUnclaimed, let oldest = state.order.popFirst() { state.unclaimed[oldest] = nil }
        }
    }

    private func expire(_ isOver: (Waiter) -> Bool) {
        state.withLock { state in
            for (id, waiter) in state.waiters where isOver(waiter) {
                state.waiters[id] = nil
                waiter.continuation.resume(returning: nil)
            }
        }
    }
}
