import Foundation
import MobileClient
import Testing

@testable import MobileSim

@Suite struct LedgerTests {
    private let id = UUID()
    private let now = Date(timeIntervalSince1970: 0)

    private func rules(_ findings: [PhoneLedger.Finding]) -> [Violation.Rule] { findings.map(\.rule) }

    @Test func `an order that ends once is as it must be`() {
        var ledger = PhoneLedger()
        ledger.ordered(id, by: "ada", at: now)
        #expect(ledger.open == 1)
        #expect(rules(ledger.orderEnded(id, as: "completed", in: 1, current: "ada")).isEmpty)
        ledger.orderAcknowledged(id)
        #expect(ledger.open == 0)
        #expect(rules(ledger.findings(pendingOrders: [], pendingSessions: [])).isEmpty)
    }

    @Test func `a second end in a process is found`() {
        var ledger = PhoneLedger()
        ledger.ordered(id, by: "ada", at: now)
        _ = ledger.orderEnded(id, as: "completed", in: 1, current: "ada")
        #expect(rules(ledger.orderEnded(id, as: "completed", in: 1, current: "ada")) == [.endedTwice])
        #expect(ledger.orders[id]?.ends.perProcess == 2)
    }

    @Test func `the next process may get the same end, but no other`() {
        var ledger = PhoneLedger()
        ledger.ordered(id, by: "ada", at: now)
        _ = ledger.orderEnded(id, as: "completed", in: 1, current: "ada")
        #expect(rules(ledger.orderEnded(id, as: "completed", in: 2, current: "ada")).isEmpty)
        #expect(rules(ledger.orderEnded(id, as: "expired", in: 3, current: "ada")) == [.endChanged])
    }

    @Test func `an app that gets an end again after it has acknowledged it is found`() {
        var ledger = PhoneLedger()
        ledger.ordered(id, by: "ada", at: now)
        _ = ledger.orderEnded(id, as: "completed", in: 1, current: "ada")
        ledger.orderAcknowledged(id)
        #expect(rules(ledger.orderEnded(id, as: "completed", in: 2, current: "ada")) == [.toldAgain])
    }

    @Test(arguments: ["bob", nil]) func `a result under another account is found, a cancellation is none`(current: String?) {
        var ledger = PhoneLedger()
        ledger.ordered(id, by: "ada", at: now)
        #expect(rules(ledger.orderEnded(id, as: "completed", in: 1, current: current)) == [.wrongAccount])
        let other = UUID()
        ledger.ordered(other, by: "ada", at: now)
        #expect(rules(ledger.orderEnded(other, as: "cancelled", in: 1, current: current)).isEmpty)
    }

    @Test func `an order that the app had not got to know ends as well`() {
        var ledger = PhoneLedger()
        #expect(rules(ledger.orderEnded(id, as: "completed", in: 2, current: "ada")).isEmpty)
        #expect(ledger.orders.count == 1)
    }

    @Test func `what never ends is found, and what is pending`() {
        var ledger = PhoneLedger()
        ledger.ordered(id, by: "ada", at: now)
        ledger.sessionBegan(UUID(), "sign_in", for: nil)
        #expect(rules(ledger.findings(pendingOrders: [id], pendingSessions: [])) == [.pending, .neverEnded, .neverEnded])
    }

    @Test func `what was under way at a sign-out may end without a word, but not twice`() {
        var ledger = PhoneLedger()
        ledger.ordered(id, by: "ada", at: now)
        ledger.abandon()
        #expect(ledger.open == 0)
        #expect(rules(ledger.findings(pendingOrders: [], pendingSessions: [])).isEmpty)
        _ = ledger.orderEnded(id, as: "cancelled", in: 1, current: "ada")
        #expect(rules(ledger.orderEnded(id, as: "cancelled", in: 1, current: "ada")) == [.endedTwice])
    }

    @Test func `a sign-out abandons nothing that has ended`() {
        var ledger = PhoneLedger()
        ledger.ordered(id, by: "ada", at: now)
        _ = ledger.orderEnded(id, as: "completed", in: 1, current: "ada")
        ledger.abandon()
        #expect(ledger.orders[id]?.ends.isAbandoned == false)
    }

    @Test func `a session signs its own person in, and no person by the face of another`() {
        var ledger = PhoneLedger()
        let (own, other, stranger) = (UUID(), UUID(), UUID())
        ledger.sessionBegan(own, "sign_in", for: "ada")
        ledger.sessionBegan(other, "sign_in", for: "ada")
        ledger.sessionBegan(stranger, "sign_in", for: "")
        #expect(rules(ledger.sessionEnded(own, as: "signed in", user: "ada", in: 1)).isEmpty)
        #expect(rules(ledger.sessionEnded(other, as: "signed in", user: "bob", in: 1)) == [.wrongAccount])
        #expect(rules(ledger.sessionEnded(stranger, as: "signed in", user: "ada", in: 1)) == [.stranger])
    }

    @Test func `a session that is known keeps who it is for`() {
        var ledger = PhoneLedger()
        ledger.sessionBegan(id, "sign_in", for: "")
        ledger.sessionBegan(id, "sign_in", for: "ada")
        #expect(rules(ledger.sessionEnded(id, as: "signed in", user: "ada", in: 2)) == [.stranger])
    }

    @Test(arguments: [
        (ShownPoses.asAsked, EKYCSession.Liveness.failed), (.inAnotherOrder, .passed),
    ])
    func `photos of a challenge that pass or fail against their order are found`(poses: ShownPoses, wrong: EKYCSession.Liveness) {
        for liveness in [EKYCSession.Liveness.passed, .failed, .notPerformed, nil] {
            var ledger = PhoneLedger()
            ledger.sessionBegan(id, "sign_up", for: nil, showing: poses)
            let findings = ledger.sessionEnded(id, as: "an end", user: nil, liveness: liveness, in: 1)
            #expect(rules(findings) == (liveness == wrong ? [.liveness] : []))
        }
    }

    @Test func `a session without a challenge may have any liveness`() {
        var ledger = PhoneLedger()
        ledger.sessionBegan(id, "sign_up", for: nil)
        #expect(ledger.sessionEnded(id, as: "failed", user: nil, liveness: .failed, in: 1).isEmpty)
    }

    @Test func `an outcome tells the liveness that it implies`() {
        #expect(AppProcess.liveness(.enrolled(awaiting: nil)) == .passed && AppProcess.liveness(.signedIn(userID: "u")) == .passed)
        #expect(AppProcess.liveness(.failed(.init(.livenessFailed, isRetryable: true, liveness: .failed))) == .failed)
        #expect(AppProcess.liveness(.expired) == nil)
    }

    @Test func `a session that is not pending any more, and whose end the app did not get, is found once`() {
        var ledger = PhoneLedger()
        let (lost, pending, told) = (UUID(), UUID(), UUID())
        for id in [lost, pending, told] { ledger.sessionBegan(id, "sign_up", for: nil) }
        _ = ledger.sessionEnded(told, as: "enrolled", user: nil, in: 1)
        let open = ledger.openSessions
        #expect(rules(ledger.forgotten(open + [told], besides: [pending])) == [.neverEnded])
        #expect(ledger.openSessions == [pending])
        #expect(ledger.forgotten(open, besides: [pending]).isEmpty)
    }

    @Test func `a session ends again in the next process until the app has acknowledged it`() {
        var ledger = PhoneLedger()
        ledger.sessionBegan(id, "sign_in", for: nil)
        #expect(rules(ledger.sessionEnded(id, as: "expired", user: nil, in: 1)).isEmpty)
        #expect(rules(ledger.sessionEnded(id, as: "expired", user: nil, in: 2)).isEmpty)
        ledger.sessionAcknowledged(id)
        #expect(rules(ledger.sessionEnded(id, as: "expired", user: nil, in: 3)) == [.toldAgain])
    }
}

@Suite struct FolderCheckTests {
    @Test func `tokens, locks and the registration stay`() {
        #expect(FolderCheck.leaked(["credentials.json", "jobs/lock", "registration.json", "retired.json.lock"]).isEmpty)
    }

    @Test func `photos, forms, tasks and temporary files do not`() {
        let left = [
            ".dat.nosync1.x", "forms/1.form", "jobs/files/1.form", "jobs/tasks/1.json", "secrets/ekyc-1", "uploads/tasks/1.json.new",
        ]
        #expect(FolderCheck.leaked(["jobs/lock"] + left) == left)
    }

    @Test func `files are found at any depth, and folders are none`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder.appending(path: "a/b"), withIntermediateDirectories: true)
        try Data().write(to: folder.appending(path: "a/b/c"))
        try Data().write(to: folder.appending(path: ".d"))
        #expect(FolderCheck.files(in: folder) == [".d", "a/b/c"])
    }
}
