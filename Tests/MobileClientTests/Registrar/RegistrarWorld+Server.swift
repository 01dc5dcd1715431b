@testable import MobileClient

/// The side of the API.
extension RegistrarWorld {
    /// Handles a request at the API, and returns its answer.
    mutating func serve(_ wire: Wire) -> Machine.Answer {
        guard let credential = wire.credential, server.isAlive(credential) else { return .refused }
        // Of one sign-in, a request that the phone gave up is handled before a later one or never.
        if ghost?.credential == credential { ghost = nil }
        switch wire.request {
        case .register(let order):
            guard let id = register(order.device.token, for: credential) else { return .registered(at: date) }
            return .claimed(handOverID: id, expiresIn: .seconds(600))
        case .confirm(let nonce, _): return server.confirm(nonce, by: credential) ? .registered(at: date) : .gone
        case .remove:
            server.remove(by: credential)
            return .removed
        }
    }

    /// Redeems a sign-in at the API: the token that was sent with it is registered, or claimed, which no answer says.
    mutating func signIn() {
        signIns += 1
        let signIn = "s\(signIns)"
        if let current { retired = retired.filter { $0 != current } + [current] }
        current = signIn
        server.begin(signIn)
        _ = register(token, for: signIn)
        hasToSync = true
    }

    /// Registers a token; returns the id of the claim where another user has the installation.
    private mutating func register(_ token: String, for signIn: String) -> String? {
        guard !server.register(token, for: signIn) else { return nil }
        let (nonce, isNew) = server.claim(token, for: signIn, isOnItsWay: { pushes.contains($0) })
        if isNew { pushes.append(nonce) }
        return nonce.handOverID
    }

    func addLogOut(_ spend: Spend, _ add: Add) {
        if let logOut {
            if let answer = logOut.answer {
                add("answer \(answer.name) to the logout of \(logOut.signIn)") {
                    $0.logOut = nil
                    $0.handle(.loggedOut(logOut.signIn, answer))
                }
            } else {
                if phone.isOnline {
                    add("the API ends \(logOut.signIn)") {
                        $0.server.logOut(logOut.signIn)
                        $0.logOut?.answer = .removed
                    }
                    spend(\.losses, "the answer to the logout is lost") {
                        $0.server.logOut(logOut.signIn)
                        $0.logOut?.answer = .failed(after: nil)
                    }
                    spend(\.losses, "the logout is lost") { $0.logOut?.answer = .failed(after: nil) }
                } else {
                    add("the logout fails") { $0.logOut?.answer = .failed(after: nil) }
                }
                spend(\.throttles, "the API throttles the logout") { $0.logOut?.answer = .failed(after: .seconds(30)) }
            }
        }
        if let ghostLogOut {
            add("the API ends \(ghostLogOut) late") {
                $0.ghostLogOut = nil
                $0.server.logOut(ghostLogOut)
            }
            add("a late logout vanishes") { $0.ghostLogOut = nil }
        }
    }
}
