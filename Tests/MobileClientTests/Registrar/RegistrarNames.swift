@testable import MobileClient

/// Short names for counterexamples. Those of reflection would take most of the time of a search.
extension TokenRegistrarReducer.Request {
    var name: String {
        switch self {
        case .register(let order): "registration of \(order.device.token) for \(order.signIn)"
        case .confirm(let nonce, let signIn): "confirmation of \(nonce.handOverID) by \(signIn)"
        case .remove(let signIn): "removal by \(signIn)"
        }
    }
}

extension TokenRegistrarReducer.Answer {
    var name: String {
        switch self {
        case .registered: "registered"
        case .claimed(let id, _): "claimed \(id)"
        case .removed: "removed"
        case .gone: "gone"
        case .refused: "refused"
        case .failed(let time): time == nil ? "failed" : "throttled"
        }
    }
}

extension TokenRegistrarReducer.Lane {
    var name: String { self == .logOut ? "logout" : "registration" }
}

extension TokenRegistrarReducer.Effect {
    var name: String {
        switch self {
        case .read: "read"
        case .readDevice: "read the device"
        case .save(let registration): registration == nil ? "save nothing" : "save a registration"
        case .send(let request): "send the \(request.name)"
        case .cancel: "cancel"
        case .retire: "retire"
        case .logOut(let signIn): "log \(signIn) out"
        case .discard(let signIn): "discard \(signIn)"
        case .wait(let lane, _): "wait for the \(lane.name)"
        case .stopWaiting(let lane): "stop waiting for the \(lane.name)"
        case .report: "report"
        }
    }
}
