import FoundationEssentials
import ImageGenerators
import Imaging
import Synchronization

/// A generator that follows the script of a test and counts its calls.
final class ScriptedGenerator: ImageGenerator {
    /// The behaviour of one call.
    enum Step: Sendable {
        /// Returns the source picture unchanged.
        case picture
        /// Returns bytes that are no picture.
        case garbage
        /// Fails.
        case fail(GenerationError.Code)
        /// Runs until it is cancelled.
        case hang
    }

    private struct State {
        var steps: [Step]
        var calls = 0
        var cancellations = 0
    }

    let name = "scripted-1"
    let isPaid: Bool
    private let state: Mutex<State>

    /// - Parameters:
    ///   - steps: One step per call; the last one is repeated.
    ///   - isPaid: Whether the calls of a day are limited.
    init(_ steps: Step..., isPaid: Bool = false) {
        self.isPaid = isPaid
        state = Mutex(State(steps: steps))
    }

    /// The number of calls.
    var calls: Int { state.withLock { $0.calls } }
    /// The number of cancelled calls.
    var cancellations: Int { state.withLock { $0.cancellations } }

    func generate(_ request: GenerationRequest) async throws(GenerationError) -> GeneratedImage {
        let step = state.withLock { state in
            state.calls += 1
            return state.steps.count > 1 ? state.steps.removeFirst() : state.steps[0]
        }
        request.progress(50)
        switch step {
        case .picture:
            return GeneratedImage(bytes: request.picture.bytes, modelUsed: "scripted-1.5", duration: .milliseconds(12))
        case .garbage: return GeneratedImage(bytes: [1, 2, 3], modelUsed: name, duration: .zero)
        case .fail(let code):
            let isFree = if case .rateLimited = code { true } else { false }
            throw GenerationError(code, "the secret words of the model", isFree: isFree)
        case .hang:
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            state.withLock { $0.cancellations += 1 }
            throw GenerationError(.cancelled, "cancelled")
        }
    }
}
