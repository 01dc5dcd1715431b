internal import Foundation
internal import Synchronization

/// Brings each push that the emulator takes to the phone of its token.
final class PushFeed: Sendable {
    private let emulator: EmulatorControl
    private let phones = Mutex<[String: @Sendable (EmulatorControl.Push) -> Void]>([:])

    init(_ emulator: EmulatorControl) { self.emulator = emulator }

    /// Says what takes the pushes to a token. Tokens are never given out twice, so old ones may stay.
    func register(_ token: String, _ take: @escaping @Sendable (EmulatorControl.Push) -> Void) {
        phones.withLock { $0[token] = take }
    }

    func deliver(_ push: EmulatorControl.Push) { phones.withLock { $0[push.token] }?(push) }

    /// The number to begin with: the number of the next push.
    func position() async throws(EmulatorControl.Failure) -> Int {
        try await emulator.pushes(after: .max, wait: 0).next
    }

    /// Brings pushes until the task is cancelled.
    func run(from number: Int) async {
        var next = number
        while !Task.isCancelled {
            do throws(EmulatorControl.Failure) {
                let page = try await emulator.pushes(after: next, wait: 2)
                page.pushes.forEach(deliver)
                next = page.next
            } catch {
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
    }
}
