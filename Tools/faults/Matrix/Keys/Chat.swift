import Foundation
import Synchronization
import TestSupport

/// Messages of Ada to Ben, one after another until it is ended: their texts and her name travel sealed.
final class Chat: Sendable {
    private static let interval = Duration.seconds(2)

    private let witness: Witness
    private struct State {
        var sent = 0
        var refused: [String] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// The number of messages that were sent.
    var sent: Int { state.withLock { $0.sent } }

    /// Begins to send.
    init(of witness: Witness) {
        self.witness = witness
        task.withLock { $0 = Task { await send() } }
    }

    /// The text of a message.
    static func text(_ number: Int) -> String { "message \(number)" }

    private func send() async {
        while !state.withLock({ $0.isOver }) {
            let number = state.withLock { $0.sent + 1 }
            let json = #"{"message_id":"m-\#(number)","text":"\#(Self.text(number))"}"#
            do {
                let answer = try await Witness.insisting {
                    try await witness.ada.post(
                        "/v1/topics/conversation:\(Witness.conversation)/messages", json: json, bearer: witness.access)
                }
                if answer.status != 202 { state.withLock { $0.refused.append("\(number): \(answer.status)") } }
            } catch {
                state.withLock { $0.refused.append("\(number): \(error)") }
            }
            state.withLock { $0.sent = number }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Ends the sending after the current message.
    ///
    /// - Returns: The numbers of all messages and of refused messages.
    func end() async -> (sent: Int, refused: [String]) {
        state.withLock { $0.isOver = true }
        await task.withLock { $0 }?.value
        return state.withLock { ($0.sent, $0.refused) }
    }
}
