internal import Dispatch
internal import Foundation

/// Has the first Ctrl-C end a load early, and leaves the second to end the process.
final class LoadSignals {
    private static let numbers = [SIGINT, SIGTERM]

    private let sources: [any DispatchSourceProtocol]

    init(_ stop: LoadStop, note: @escaping @Sendable (String) -> Void) {
        sources = Self.numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                guard stop.ask() else { return }
                note("Stopping: what is under way is awaited and cleaned up; again to end at once.")
                signal(number, SIG_DFL)
            }
            source.resume()
            return source
        }
    }

    /// Leaves the signals to the process again.
    func end() {
        sources.forEach { $0.cancel() }
        for number in Self.numbers { signal(number, SIG_DFL) }
    }
}
