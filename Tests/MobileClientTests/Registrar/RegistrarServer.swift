@testable import MobileClient

/// What the API knows of one installation: `DeviceRegistrar` of identity-api in small.
struct RegistrarServer: Hashable {
    struct Holder: Hashable {
        var token: String
        var signIn: String
    }

    private struct Claim: Hashable {
        var id: String
        var holder: Holder
        var formerUser: String?
        var isCompleted = false
    }

    var holder: Holder?
    private(set) var users: [String: String]
    private var alive: Set<String> = ["s0"]
    private var claim: Claim?
    private var claims = 0

    init(holder: Holder?, users: [String: String]) {
        self.holder = holder
        self.users = users
    }

    func isAlive(_ signIn: String) -> Bool { alive.contains(signIn) }

    mutating func begin(_ signIn: String, user: String) {
        users[signIn] = user
        begin(signIn)
    }

    /// Begins a sign-in on this installation, which ends an earlier one of the same user here.
    mutating func begin(_ signIn: String) {
        alive = alive.filter { users[$0] != users[signIn] }
        alive.insert(signIn)
    }

    /// Registers a token, unless another user has the installation.
    mutating func register(_ token: String, for signIn: String) -> Bool {
        guard holder == nil || users[holder?.signIn ?? ""] == users[signIn] else { return false }
        // A user has one sign-in per device.
        if let former = holder?.signIn, former != signIn { alive.remove(former) }
        holder = Holder(token: token, signIn: signIn)
        return true
    }

    /// Claims the installation of another user. The nonce of a repeated claim is on its way already.
    mutating func claim(
        _ token: String, for signIn: String, isOnItsWay: (TokenRegistrarReducer.Nonce) -> Bool
    ) -> (nonce: TokenRegistrarReducer.Nonce, isNew: Bool) {
        let claimant = Holder(token: token, signIn: signIn)
        if let claim, claim.holder == claimant, !claim.isCompleted, isOnItsWay(Self.nonce(claim.id)) {
            return (Self.nonce(claim.id), false)
        }
        claims += 1
        claim = Claim(id: "h\(claims)", holder: claimant, formerUser: users[holder?.signIn ?? ""])
        return (Self.nonce("h\(claims)"), true)
    }

    mutating func confirm(_ nonce: TokenRegistrarReducer.Nonce, by signIn: String) -> Bool {
        guard let claim, claim.id == nonce.handOverID, claim.holder.signIn == signIn else { return false }
        let user = users[holder?.signIn ?? ""]
        if claim.isCompleted { return user == users[signIn] }
        guard user == nil || user == claim.formerUser else { return false }
        holder = claim.holder
        self.claim?.isCompleted = true
        return true
    }

    mutating func remove(by signIn: String) {
        if users[holder?.signIn ?? ""] == users[signIn] { holder = nil }
    }

    mutating func logOut(_ signIn: String) {
        alive.remove(signIn)
        if holder?.signIn == signIn { holder = nil }
    }

    private static func nonce(_ id: String) -> TokenRegistrarReducer.Nonce { .init(handOverID: id, nonce: "n") }
}
