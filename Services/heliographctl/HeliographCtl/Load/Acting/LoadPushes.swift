internal import DequeModule
internal import Foundation
internal import HTTPClient
internal import Synchronization

/// Sees pushes arrive at an FCM emulator, and tells who waits for one.
final class LoadPushes: Sendable {
    /// How long one request waits for pushes; as long may a deadline be overstayed.
    private static let waitSeconds = 1
    /// Pushes that nobody waits for yet: of things whose answer is still on its way, and of many things nobody ever asks for.
    private static let unclaimedMax = 20_000

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

    /// Where the emulator's pushes end now, to begin there.
    func end() async throws(LoadFailure) -> Int {
        guard let page = await page(after: .max, wait: 0) else {
            throw LoadFailure(at: nil, "the FCM emulator does not tell its pushes: is it there, and as new as this command?")
        }
        return page.next
    }

    /// Looks for pushes until cancelled.
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
            giveUp { $0.deadline <= .now }
        }
        state.withLock { $0.isOver = true }
        giveUp { _ in true }
    }

    /// Waits for the push about a session or job; nil when it does not come in time.
    func arrival(of id: String, within time: Duration) async -> ContinuousClock.Instant? {
        await withCheckedContinuation { continuation in
            let known: ContinuousClock.Instant?? = state.withLock { state in
                if let instant = state.unclaimed.removeValue(forKey: id) { return instant }
                if state.isOver { return .some(nil) }
                state.waiters[id] = Waiter(deadline: .now + time, continuation: continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    private func page(after number: Int, wait: Int) async -> Page? {
        let request = HTTPClientRequest(url: "\(url)?after=\(number)&wait=\(wait)", timeout: .seconds(wait + 10))
        guard let response = try? await http.execute(request), response.status == 200 else { return nil }
        return try? JSONDecoder().decode(Page.self, from: Data(response.body))
    }

    private func arrive(_ id: String, at instant: ContinuousClock.Instant) {
        let waiter = state.withLock { state -> Waiter? in
            if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
            state.unclaimed[id] = instant
            state.order.append(id)
            if state.order.count > Self.unclaimedMax, let oldest = state.order.popFirst() { state.unclaimed[oldest] = nil }
            return nil
        }
        waiter?.continuation.resume(returning: instant)
    }

    private func giveUp(_ isOver: (Waiter) -> Bool) {
        let waiters = state.withLock { state in
            let over = state.waiters.filter { isOver($0.value) }
            for id in over.keys { state.waiters[id] = nil }
            return over.values
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
    }
}
