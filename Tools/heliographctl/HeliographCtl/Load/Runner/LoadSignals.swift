internal import Dispatch
internal import Foundation

/// Ends a load early on the first SIGINT or SIGTERM; the second one ends the process.
final class LoadSignals {
    private static let numbers = [SIGINT, SIGTERM]

    private let sources: [any DispatchSourceProtocol]

    init(_ stop: LoadStop, note: @escaping @Sendable (String) -> Void) {
        sources = Self.numbers.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                guard stop.request() else { return }
                note("Stopping: waiting for actions in flight, then cleaning up. Press Ctrl-C again to end at once.")
                signal(number, SIG_DFL)
            }
            source.resume()
            return source
        }
    }

    /// Restores the default handling of the signals.
    func end() {
        sources.forEach { $0.cancel() }
        for number in Self.numbers { signal(number, SIG_DFL) }
    }
}
