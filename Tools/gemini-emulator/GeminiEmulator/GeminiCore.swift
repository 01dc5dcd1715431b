import FCMEmulator
import FoundationEssentials
import Synchronization

/// The state that the routes share.
final class GeminiCore: Sendable {
    let configuration: GeminiEmulatorConfiguration
    let connections = ConnectionTracker()
    private let ledger = Mutex(GeminiLedger())

    init(configuration: GeminiEmulatorConfiguration) { self.configuration = configuration }

    /// Records a call as in progress, and returns the behaviour that applies to it.
    func admit(_ request: GenerateContentRequest, model: String) -> GeminiBehaviour {
        let (fingerprint, now) = (request.fingerprint, Date())
        return ledger.withLock { ledger in
            let behaviour = ledger.takeBehaviour(prompt: request.prompt)
            ledger.calls.append(
                GeminiCall(
                    number: ledger.nextNumber, receivedAt: now, model: model, prompt: request.prompt,
                    fingerprint: fingerprint, pictureByteCount: request.pictures.reduce(0) { $0 + $1.count },
                    aspectRatio: request.aspectRatio, imageSize: request.imageSize, isPaid: behaviour.isPaid))
            ledger.nextNumber += 1
            if ledger.calls.count > configuration.maxCalls { ledger.calls.removeFirst() }
            ledger.inFlight += 1
            ledger.maxInFlight = max(ledger.maxInFlight, ledger.inFlight)
            return behaviour
        }
    }

    func leave() { ledger.withLock { $0.inFlight -= 1 } }

    var calls: [GeminiCall] { ledger.withLock { $0.calls } }

    /// Maximum number of calls in progress at once, since the start or the last `clearCalls()`.
    var maxCallsAtOnce: Int { ledger.withLock { $0.maxInFlight } }

    func clearCalls() {
        ledger.withLock { ledger in
            ledger.calls = []
            ledger.maxInFlight = ledger.inFlight
        }
    }

    /// Adds a behaviour and returns its number; nil when there are too many.
    func add(_ behaviour: GeminiBehaviour) -> Int? {
        ledger.withLock { ledger in
            guard ledger.behaviours.count < configuration.maxBehaviours else { return nil }
            defer { ledger.nextBehaviourID += 1 }
            ledger.behaviours.append((ledger.nextBehaviourID, behaviour))
            return ledger.nextBehaviourID
        }
    }

    func clearBehaviours() { ledger.withLock { $0.behaviours = [] } }
}
