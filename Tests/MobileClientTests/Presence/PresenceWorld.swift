@testable import MobileClient

/// A phone that shows conversations, the lease that the API has of it, and what is on its way between them.
struct PresenceWorld: Hashable {
    typealias Machine = PresenceReducer

    /// What may still happen. Each count bounds the model.
    struct Budget: Hashable {
        var screens = 3
        var backgrounds = 1
        var losses = 1
        var refusals = 1
        var throttles = 0
        var outages = 1
        var renewals = 1
        var registrations = 0
    }

    struct Wire: Hashable {
        var conversation: String?
        var answer: Machine.Answer?
    }

    var phone = Machine.State()
    var effects: [Machine.Effect] = []
    var screen: String?
    var isForeground = true
    /// The conversation of which the API sends no pushes.
    var lease: String?
    var wire: Wire?
    var waits: Set<Machine.Wait.Kind> = []
    var budget: Budget
    var violation: String?

    var visible: String? { isForeground ? screen : nil }

    var isQuiet: Bool {
        effects.isEmpty && wire == nil && phone.isOnline && !waits.contains(.retry)
    }

    mutating func handle(_ event: Machine.Event) { effects += Machine.reduce(&phone, event) }

    mutating func performNext() {
        switch effects.removeFirst() {
        case .look: violation = "the model looks by itself"
        case .send(let conversation):
            if wire != nil { violation = "two requests are in flight" }
            if let conversation, conversation != visible { violation = "\(conversation) is announced and not on the screen" }
            wire = Wire(conversation: conversation)
        case .wait(let wait): waits.insert(wait.kind)
        case .stopWaiting(let kind): waits.remove(kind)
        }
    }

    var fault: String? {
        if let violation { return violation }
        guard effects.isEmpty, wire == nil else { return nil }
        if phone.told == .none, let lease { return "the API believes in \(lease), and the phone does not know" }
        guard isQuiet else { return nil }
        let expected = phone.refused == visible ? nil : visible
        if lease != expected { return "the API believes in \(lease ?? "none") and not in \(expected ?? "none")" }
        return visible != nil && expected != nil && !waits.contains(.renewal) ? "the lease is not renewed" : nil
    }
}
