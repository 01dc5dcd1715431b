public import FoundationEssentials

/// One call of the emulator that passed all checks.
public struct GeminiCall: Sendable, Equatable {
    /// Its number, from 1.
    public let number: Int
    /// When it came.
    public let receivedAt: Date
    /// The model it was for.
    public let model: String
    /// The text of its parts, joined.
    public let prompt: String
    /// The SHA-256 of its pictures and its prompt, in hexadecimal digits: the same for calls that ask for the same.
    public let fingerprint: String
    /// How many bytes its pictures have.
    public let pictureByteCount: Int
    /// The shape that is asked for, if any.
    public let aspectRatio: String?
    /// The size that is asked for, if any.
    public let imageSize: String?
    /// Whether the model did its work, which costs money even when the answer is lost.
    public let isPaid: Bool
}

/// What the emulator remembers, and what it is told to do.
struct GeminiLedger {
    var calls: [GeminiCall] = []
    var behaviours: [(id: Int, behaviour: GeminiBehaviour)] = []
    var nextNumber = 1
    var nextBehaviourID = 1
    /// Calls at work, and the most there ever were.
    var inFlight = 0
    var inFlightMax = 0

    /// Takes what applies to a call, which counts as one use of it.
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
