internal import Foundation
internal import Synchronization

/// The last events of a phone, for the case that something is wrong.
final class EventLog: Sendable {
    struct Entry: Codable, Sendable, Equatable {
        /// Seconds since the run began.
        let at: Double
        /// The number of the app's process.
        let process: Int
        let text: String
    }

    /// The events that a violation shows.
    static let shown = 50

    private struct State {
        var ring: [Entry] = []
        var next = 0
    }

    private let state = Mutex(State())
    private let start: ContinuousClock.Instant

    init(start: ContinuousClock.Instant = .now) { self.start = start }

    func add(_ text: String, process: Int) {
        let at = (ContinuousClock.now - start) / .seconds(1)
        add(Entry(at: (at * 1_000).rounded() / 1_000, process: process, text: text))
    }

    func add(_ entry: Entry) {
        state.withLock { state in
            if state.ring.count < Self.shown {
                state.ring.append(entry)
            } else {
                state.ring[state.next] = entry
            }
            state.next = (state.next + 1) % Self.shown
        }
    }

    /// The events, the oldest first.
    var last: [Entry] {
        state.withLock { state in
            state.ring.count < Self.shown ? state.ring : Array(state.ring[state.next...] + state.ring[..<state.next])
        }
    }
}
