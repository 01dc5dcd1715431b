public import FoundationEssentials

/// One call of the emulator that passed all checks.
public struct GeminiCall: Sendable, Equatable {
    /// Its number, from 1.
    public let number: Int
    /// The time of its arrival.
    public let receivedAt: Date
    /// The requested model.
    public let model: String
    /// The text of its parts, joined.
    public let prompt: String
    /// SHA-256 of its prompt and its pictures, in hexadecimal digits; equal for calls with the same prompt and pictures, in any
    /// shape or size.
    public let fingerprint: String
    /// Total size of its pictures, in bytes.
    public let pictureByteCount: Int
    /// The requested aspect ratio, if any.
    public let aspectRatio: String?
    /// The requested size, if any.
    public let imageSize: String?
    /// Whether the model did its work, which is charged even when the answer is lost.
    public let isPaid: Bool
}

/// The recorded calls, and the behaviours for coming calls.
struct GeminiLedger {
    var calls: [GeminiCall] = []
    var behaviours: [(id: Int, behaviour: GeminiBehaviour)] = []
    var nextNumber = 1
    var nextBehaviourID = 1
    /// Calls in progress; `maxInFlight` is their maximum since the start or the last `clearCalls()`.
    var inFlight = 0
    var maxInFlight = 0

    /// Returns the first behaviour that matches a prompt, and counts one use of it; a plain picture when no behaviour matches.
    mutating func takeBehaviour(prompt: String) -> GeminiBehaviour {
        guard let index = behaviours.firstIndex(where: { $0.behaviour.promptContains.map(prompt.contains) ?? true }) else {
            return GeminiBehaviour(.picture)
        }
        let behaviour = behaviours[index].behaviour
        if let count = behaviour.count {
            if count > 1 { behaviours[index].behaviour.count = count - 1 } else { behaviours.remove(at: index) }
        }
        return behaviour
    }
}
