import Testing

@testable import MobileClient

/// One session in all orders of what may happen, with ends of the process between any two effects.
@Suite struct EKYCSessionReducerModelTests {
    @Test func `a sign-up ends exactly once and leaves nothing, whatever happens`() {
        expectHolds(EKYCModels.SignUp.self, atLeast: 4_000, maxWorlds: 300_000)
    }

    @Test func `a sign-in ends exactly once, leaves nothing, and loses no tokens, whatever happens`() {
        expectHolds(EKYCModels.SignIn.self, atLeast: 4_000, maxWorlds: 300_000)
    }

    @Test func `a sign-in on a new device ends exactly once, and loses no tokens, whatever is entered`() {
        expectHolds(EKYCModels.NewDevice.self, atLeast: 4_000, maxWorlds: 300_000)
    }
}

enum EKYCModels {
    static let refusals = 1

    enum SignUp: CheckedModel {
        static var initial: [EKYCWorld] {
            let world = EKYCWorld(.signUp, crashes: 1, losses: 1, refusals: refusals, pushes: 0)
            return [
                world, world.with { $0.refusesContent = true }, world.with { $0.hasChallenge = true },
                world.with {
                    $0.skipUpload()
                    ($0.isRetakable, $0.refusals) = (true, 0)
                },
            ]
        }
        static func steps(from world: EKYCWorld) -> [(name: String, world: EKYCWorld)] { world.steps() }
        static func violation(of world: EKYCWorld) -> String? { world.violation }
        static func violationAtEnd(of world: EKYCWorld) -> String? { world.violationAtEnd }
    }

    /// A device that needs a mailed code.
    enum NewDevice: CheckedModel {
        static var initial: [EKYCWorld] {
            let world = EKYCWorld(.signIn, crashes: 1, losses: 1, refusals: 0, pushes: 0)
            return [
                world.with {
                    $0.skipUpload()
                    ($0.verdict, $0.needsCode, $0.entries, $0.confirmations) = (.succeeded, true, 2, 1)
                }
            ]
        }
        static func steps(from world: EKYCWorld) -> [(name: String, world: EKYCWorld)] { world.steps() }
        static func violation(of world: EKYCWorld) -> String? { world.violation }
        static func violationAtEnd(of world: EKYCWorld) -> String? { world.violationAtEnd }
    }

    /// From the answer to the upload on, which is that of a sign-up.
    enum SignIn: CheckedModel {
        static var initial: [EKYCWorld] {
            let world = EKYCWorld(.signIn, crashes: 1, losses: 1, refusals: 0, pushes: 1)
            let other = EKYCWorld(.signIn, crashes: 2, losses: 0, refusals: 0, pushes: 0)
            return [world.with { $0.skipUpload() }, other.with { $0.skipUpload() }]
        }
        static func steps(from world: EKYCWorld) -> [(name: String, world: EKYCWorld)] { world.steps() }
        static func violation(of world: EKYCWorld) -> String? { world.violation }
        static func violationAtEnd(of world: EKYCWorld) -> String? { world.violationAtEnd }
    }
}

extension EKYCWorld {
    /// What is wrong with a world, whatever comes next.
    var violation: String? {
        if let fault { return fault }
        switch record {
        case .deciding where !hasSecret, .awaitingCode where !hasSecret: return "the session is kept without its token"
        case .ended where hasSecret && isRetakeOver && state != nil && effects.isEmpty && !isAwaitingRetake:
            return "the token is kept although no retake may use it"
        default: break
        }
        if isStopped, hasCredentials { return "the device is signed in after it was signed out" }
        return nil
    }

    /// What is wrong with a world in which nothing is left to do.
    var violationAtEnd: String? {
        if state == nil { return "no process begins" }
        if record != nil { return "a record is left" }
        if hasSecret || hasRetakenToken { return "a secret is left" }
        if hasBody { return "photos are left" }
        if isCreated, reports.isEmpty, !hasSignedOut { return "no outcome is reported" }
        if isCreationRefused, !reports.isEmpty { return "an outcome is reported of what was not created" }
        // An answer that no process has seen is beyond what a client can sign out.
        let isKnownHere = isRedeemed && !hasRequestDied
        if isKnownHere, !hasStored, !isRevoked, reports.last != .tooLate { return "tokens are lost" }
        return nil
    }
}
