import Testing

@testable import MobileClient

/// Three receipts over a network that loses requests and answers, with ends of the process between any two effects.
private enum ReceiptModel: CheckedModel {
    static let receipts = ["m-1", "m-2", "m-3"].compactMap { PushReceipt(.message, $0, .delivered, at: 1) }
    static let poison = receipts[2].key

    /// A request on its way, or at the API.
    struct Request: Hashable {
        var receipts: [PushReceipt]
        var number: Int
        /// Whether its process still waits for the answer.
        var isAwaited: Bool
    }

    struct World: Hashable {
        var state: ReceiptReducer.State? = ReceiptReducer.State(maxBatch: 2)
        var effects: [ReceiptReducer.Effect] = []
        var disk: Set<PushReceipt> = []
        var counted: Set<String> = []
        var refused: Set<String> = []
        /// Those that were on the disk of a person who then signed out.
        var forgotten: Set<String> = []
        var stored: Set<String> = []
        var unrecorded = receipts
        var requests: [Request] = []
        var waits: [Int] = []
        var endsLeft = 1
        var lossesLeft = 2
        var signOutsLeft = 1
        var wrong: String?
    }

    static var initial: [World] { [World()] }

    static func steps(from world: World) -> [(name: String, world: World)] {
        var steps: [(name: String, world: World)] = []
        if world.endsLeft > 0, world.state != nil {
            var next = world
            next.endsLeft -= 1
            (next.state, next.effects, next.waits) = (nil, [], [])
            for index in next.requests.indices { next.requests[index].isAwaited = false }
            steps.append(("the process ends", next))
        }
        for index in world.requests.indices { steps += outcomes(world, index) }
        if world.state == nil {
            var next = world
            next.state = ReceiptReducer.State(maxBatch: 2)
            return steps + [("the app starts", handled(next, .flush))]
        }
        if let effect = world.effects.first {
            var next = world
            next.effects.removeFirst()
            perform(effect, &next)
            // The runner performs the effects of an event one after the other, before the next event.
            return steps + [("\(label(effect))", next)]
        }
        if let receipt = world.unrecorded.first {
            var next = world
            next.unrecorded.removeFirst()
            steps.append(("record \(receipt.id)", handled(next, .recorded(receipt))))
        }
        for number in world.waits {
            var next = world
            next.waits.removeAll { $0 == number }
            steps.append(("wait \(number) ends", handled(next, .waited(number))))
        }
        if world.state?.isPaused == true || world.state?.wait != nil { steps.append(("flush", handled(world, .flush))) }
        if world.signOutsLeft > 0 {
            var next = world
            next.signOutsLeft -= 1
            steps.append(("sign out", handled(next, .signedOut)))
        }
        return steps
    }

    /// What can become of a request: accepted, refused for its third receipt, lost before or after the API.
    private static func outcomes(_ world: World, _ index: Int) -> [(name: String, world: World)] {
        var gone = world
        let request = gone.requests.remove(at: index)
        func answered(_ world: World, _ event: ReceiptReducer.Event) -> World { request.isAwaited ? handled(world, event) : world }
        var accepted = gone
        if let bad = request.receipts.firstIndex(where: { $0.key == poison }) {
            accepted.refused.insert(poison)
            return [("request \(request.number) is refused", answered(accepted, .refused(request: request.number, index: bad)))]
        }
        accepted.counted.formUnion(request.receipts.map(\.key))
        var steps = [("request \(request.number) is accepted", answered(accepted, .accepted(request: request.number)))]
        guard world.lossesLeft > 0 else { return steps }
        let failure = ReceiptReducer.Event.failed(request: request.number, retryAfterSeconds: nil, jitter: 500)
        (accepted.lossesLeft, gone.lossesLeft) = (world.lossesLeft - 1, world.lossesLeft - 1)
        steps.append(("the answer to \(request.number) is lost", answered(accepted, failure)))
        steps.append(("request \(request.number) is lost", answered(gone, failure)))
        steps.append(("a sign-in is needed for \(request.number)", answered(gone, .signInNeeded(request: request.number))))
        return steps
    }

    private static func handled(_ world: World, _ event: ReceiptReducer.Event) -> World {
        var next = world
        guard var state = next.state else { return next }
        next.effects += ReceiptReducer.reduce(&state, event)
        next.state = state
        return next
    }

    private static func label(_ effect: ReceiptReducer.Effect) -> String {
        switch effect {
        case .load: "load"
        case .store(let receipt): "store \(receipt.id)"
        case .remove(let keys): "remove \(keys)"
        case .removeAll: "remove all"
        case .send(let receipts, let request): "send \(receipts.map(\.id)) as \(request)"
        case .wait(let milliseconds, let number): "wait \(milliseconds) ms as \(number)"
        }
    }

    private static func perform(_ effect: ReceiptReducer.Effect, _ world: inout World) {
        switch effect {
        case .load: world = handled(world, .loaded(world.disk.sorted { $0.key < $1.key }))
        case .store(let receipt):
            world.disk.insert(receipt)
            world.stored.insert(receipt.key)
        case .remove(let keys):
            for key in keys where !world.counted.contains(key) && !world.refused.contains(key) { world.wrong = "\(key) is lost" }
            world.disk = world.disk.filter { !keys.contains($0.key) }
        case .removeAll:
            // From here on, when `signedOut()` returns, nothing of that person may leave. A sign-out that the end of the process cuts off
            // is repeated by the account's part.
            world.forgotten.formUnion(world.disk.map(\.key))
            world.disk = []
        case .send(let receipts, let number):
            if receipts.count > 2 || receipts.isEmpty { world.wrong = "a request has \(receipts.count) receipts" }
            if !world.disk.isSuperset(of: receipts) { world.wrong = "a receipt is sent that an end of the process would lose" }
            if world.requests.contains(where: \.isAwaited), world.signOutsLeft == 1 { world.wrong = "two requests at a time" }
            if receipts.contains(where: { world.forgotten.contains($0.key) }) { world.wrong = "a receipt of the former person is sent" }
            world.requests.append(Request(receipts: receipts, number: number, isAwaited: true))
        case .wait(let milliseconds, let number):
            if milliseconds < 1_000 { world.wrong = "a wait of \(milliseconds) ms" }
            world.waits.append(number)
        }
    }

    static func violation(of world: World) -> String? { world.wrong }

    static func violationAtEnd(of world: World) -> String? {
        let missing = world.stored.subtracting(world.counted).subtracting(world.refused).subtracting(world.forgotten)
        if !missing.isEmpty { return "\(missing.sorted()) never reached the API" }
        return world.disk.isEmpty ? nil : "\(world.disk.map(\.key).sorted()) stay on the disk"
    }
}

@Suite struct ReceiptModelTests {
    @Test func `each receipt reaches the API, over losses and ends of the process, and none of the former person does`() {
        expectHolds(ReceiptModel.self, atLeast: 5_000)
    }

    @Test func `a request has up to a hundred receipts`() {
        var state = ReceiptReducer.State()
        let receipts = (0..<250).compactMap { PushReceipt(.message, "m-\($0)", .delivered, at: Double($0)) }
        guard case .send(let batch, let number)? = ReceiptReducer.reduce(&state, .loaded(receipts)).first else {
            Issue.record("nothing is sent")
            return
        }
        #expect(batch.count == 100)
        guard case .send(let next, _)? = ReceiptReducer.reduce(&state, .accepted(request: number)).last else {
            Issue.record("the rest is not sent")
            return
        }
        #expect(next.first?.id == "m-100" && next.count == 100)
    }

    @Test func `without a network the oldest of too many go, but not those of the request under way`() {
        var state = ReceiptReducer.State()
        var removed: [String] = []
        for number in 0..<600 {
            for case .remove(let keys) in ReceiptReducer.reduce(&state, .recorded(ReceiptSamples.delivered("m-\(number)"))) {
                removed += keys
            }
        }
        #expect(state.waiting.count == 500 && state.waiting.first?.id == "m-0" && state.waiting.last?.id == "m-599")
        #expect(removed.first == "message_id-delivered-m-1" && removed.count == 100)
    }

    @Test func `the waits grow to a quarter of an hour, and the API's own wait is kept`() {
        var state = ReceiptReducer.State()
        var waits: [Int] = []
        _ = ReceiptReducer.reduce(&state, .recorded(ReceiptSamples.delivered()))
        for _ in 0..<12 {
            let effects = ReceiptReducer.reduce(&state, .failed(request: state.lastRequest, retryAfterSeconds: nil, jitter: 1_000))
            if case .wait(let milliseconds, _)? = effects.first { waits.append(milliseconds) }
            _ = ReceiptReducer.reduce(&state, .waited(state.lastWait))
        }
        #expect(waits.prefix(4) == [5_000, 10_000, 20_000, 40_000] && waits.last == 900_000 && waits.count == 12)
        let effects = ReceiptReducer.reduce(&state, .failed(request: state.lastRequest, retryAfterSeconds: 1_200, jitter: 0))
        #expect(effects == [.wait(milliseconds: 1_200_000, 13)])
    }
}

enum ReceiptSamples {
    static func delivered(_ id: String = "m-1", at: Double = 1_800_000_000) -> PushReceipt {
        guard let receipt = PushReceipt(.message, id, .delivered, at: at) else { preconditionFailure("the id is valid") }
        return receipt
    }
}
