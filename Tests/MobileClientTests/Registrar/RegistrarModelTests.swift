import Testing

@testable import MobileClient

/// The invariants of a world of a registrar.
private protocol RegistrarModel: CheckedModel where World == RegistrarWorld {}

extension RegistrarModel {
    static func steps(from world: RegistrarWorld) -> [(name: String, world: RegistrarWorld)] { world.steps }
    static func violation(of world: RegistrarWorld) -> String? { world.fault }
    static func violationAtEnd(of world: RegistrarWorld) -> String? { world.isQuiet ? nil : "something is left to do" }
}

extension RegistrarWorld {
    /// Whether nothing is under way, so that what the API knows must be right.
    var isQuiet: Bool {
        effects.isEmpty && wire == nil && ghost == nil && logOut == nil && ghostLogOut == nil && waits.isEmpty && pushes.isEmpty
            && phone.isOnline && !hasToSync && !hasToTell && !isLocked
    }

    var fault: String? {
        if let violation { return violation }
        if effects.isEmpty, hasRead, let registration = phone.registration, registration.signIn != phone.signIn {
            return "the record is of a former account"
        }
        if effects.isEmpty, record != phone.registration { return "the file and the state differ" }
        if let holder = server.holder, holder.signIn != "s0", !server.isAlive(holder.signIn) { return "an ended sign-in gets pushes" }
        return isQuiet ? faultAtRest : nil
    }

    private var faultAtRest: String? {
        if phone.signIn != current { return "the registrar follows \(phone.signIn ?? "none") and not \(current ?? "none")" }
        if retired.contains(where: { $0 != current }) || !phone.leaving.isEmpty { return "a sign-out is not repeated" }
        for signIn in ["s1", "s2"] where signIn != current && server.isAlive(signIn) { return "\(signIn) was left and is not ended" }
        let own = server.holder.flatMap { $0.signIn == "s0" ? nil : $0 }
        guard let current, !isOff else { return own == nil ? nil : "the API has \(own?.token ?? "") and must not" }
        guard server.isAlive(current) else { return "the API has ended \(current)" }
        guard server.holder == .init(token: token, signIn: current) else { return "the API does not have \(token) of \(current)" }
        return phone.registration == nil ? "the registration is not recorded" : nil
    }
}

@Suite struct RegistrarModelTests {
    /// One account, whose token, wishes and network change.
    private enum OneAccount: RegistrarModel {
        static var initial: [RegistrarWorld] {
            [
                RegistrarWorld(.init(signIns: 1, signOuts: 1, rotations: 1, crashes: 1, losses: 1, throttles: 1, refusals: 1)),
                RegistrarWorld(.init(signIns: 1, rotations: 1, switches: 2, crashes: 1, losses: 1, outages: 1, weeks: 1)),
            ]
        }
    }

    /// Two sign-ins of one account or of two, the second before or after the first was left.
    private enum TwoAccounts: RegistrarModel {
        static var initial: [RegistrarWorld] {
            let crash = RegistrarWorld.Budget(signIns: 2, signOuts: 1, crashes: 1)
            return [
                RegistrarWorld(crash), RegistrarWorld(crash, users: ["s1": "ada", "s2": "ada"]),
                RegistrarWorld(.init(signIns: 2, signOuts: 2, outages: 1)),
                RegistrarWorld(.init(signIns: 2, signOuts: 1, losses: 1)),
            ]
        }
    }

    /// A store of credentials that cannot be read after a restart of the device, or cannot be changed.
    private enum Storage: RegistrarModel {
        static var initial: [RegistrarWorld] {
            [
                RegistrarWorld(.init(signIns: 1, signOuts: 1, crashes: 1, losses: 1, restarts: 1, storeFaults: 1)),
                RegistrarWorld(.init(signIns: 2, signOuts: 1, restarts: 1, storeFaults: 1)),
            ]
        }
    }

    /// An installation that another account has not given up.
    private enum HandOver: RegistrarModel {
        static var initial: [RegistrarWorld] {
            let holder = RegistrarServer.Holder(token: "t1", signIn: "s0")
            return [
                RegistrarWorld(.init(signIns: 1, rotations: 1, crashes: 1, losses: 1, secondPushes: 1), holder: holder),
                RegistrarWorld(.init(signIns: 1, signOuts: 1, losses: 1, lostPushes: 1, earlyTimers: 1), holder: holder),
            ]
        }
    }

    @Test func `the token follows one account through all that happens`() {
        expectHolds(OneAccount.self, atLeast: 10_000, maxWorlds: 300_000)
    }

    @Test func `the token follows two sign-ins, and each that was left is ended`() {
        expectHolds(TwoAccounts.self, atLeast: 10_000, maxWorlds: 300_000)
    }

    @Test func `a sign-out that cannot read or remove the credential changes nothing, and its repetition completes it`() {
        expectHolds(Storage.self, atLeast: 10_000, maxWorlds: 300_000)
    }

    @Test func `an installation of another account is handed over by its nonce`() {
        expectHolds(HandOver.self, atLeast: 10_000, maxWorlds: 300_000)
    }
}
