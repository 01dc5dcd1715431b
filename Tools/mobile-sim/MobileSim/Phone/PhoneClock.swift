internal import Foundation
internal import MobileClient
internal import Synchronization

/// The clock of a phone, which can be set forward by a day.
final class PhoneClock: Sendable {
    private let offset = Mutex(0.0)

    var now: Date { Date(timeIntervalSinceNow: offset.withLock { $0 }) }

    func jump(seconds: Double) { offset.withLock { $0 += seconds } }

    /// The time as one process sees it: its pauses do not end after the process has.
    func time(of incarnation: Incarnation) -> TimeSource {
        TimeSource(
            now: { [self] in now },
            sleep: { duration in
                guard await incarnation.pass(.pause) else { throw CancellationError() }
                try await Task.sleep(for: duration)
                guard await incarnation.pass(.pause) else { throw CancellationError() }
            })
    }
}
