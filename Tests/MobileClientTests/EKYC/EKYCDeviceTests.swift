import Foundation
import Testing

@testable import MobileClient

/// Sessions on a device that is locked, has no space, or has damaged files.
@Suite(.timeLimit(.minutes(5))) struct EKYCDeviceTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    private func signIn(_ process: EKYCPhone.Process) async throws -> EKYCSession {
        try await process.client.signIn(EKYCPhone.faces, email: "a@b.example")
    }

    @Test func `a device that is locked at launch goes on when it is unlocked`() async throws {
        let life = EKYCLife()
        let session = try await signIn(phone.launch(life))
        await phone.time.waitForSleepers()
        life.kill()
        let locked = EKYCLife(locking: "secrets")
        let second = phone.launch(locked, isInstant: true)
        try await second.manager.start()
        #expect(await second.sender.sent.isEmpty)
        locked.unlock()
        await second.manager.wake()
        let pending = try #require(try await second.client.pending().first)
        #expect(pending.id == session.id)
        #expect(await pending.result() == .signedIn(userID: "user-1"))
    }

    @Test func `a sign-out ends also what a locked device cannot go on with`() async throws {
        let life = EKYCLife()
        _ = try await signIn(phone.launch(life))
        await phone.time.waitForSleepers()
        life.kill()
        let second = phone.launch(EKYCLife(locking: "secrets"), isInstant: true)
        try await second.manager.signedOut()
        #expect(try await second.client.pending().isEmpty && phone.records.isEmpty)
        #expect(await second.sender.sent.isEmpty)
    }

    @Test func `a session whose token could not be kept is found again by its upload`() async throws {
        phone.server.plan { $0.asksBeforeDecision = 5 }
        let locked = EKYCLife(locking: "secrets")
        let session = try await signIn(phone.launch(locked))
        await phone.time.waitForSleepers()
        locked.kill()
        let pending = try #require(try await phone.launch(isInstant: true).client.pending().first)
        #expect(pending.id == session.id)
        #expect(await pending.result() == .signedIn(userID: "user-1"))
    }

    @Test func `a token that could not be kept is kept later, and the photos go then`() async throws {
        phone.server.plan { $0.asksBeforeDecision = 5 }
        let locked = EKYCLife(locking: "secrets")
        _ = try await signIn(phone.launch(locked))
        await phone.time.waitForSleepers()
        #expect(phone.leftovers.contains { $0.hasSuffix(".ekyc") })
        locked.unlock()
        phone.time.advance(by: .seconds(3))
        await phone.time.waitForSleepers()
        #expect(!phone.leftovers.contains { $0.hasSuffix(".ekyc") } && phone.leftovers.contains { $0.hasPrefix("secrets/") })
    }

    @Test func `a record that cannot be understood is removed with its photos`() async throws {
        let store = phone.launch().store
        let file = try await store.newFile(extension: "ekyc")
        try Data("photos".utf8).write(to: file)
        let task = PendingTask(
            kind: .ekycSession, createdAt: phone.time.now, payload: Data("{}".utf8), files: [store.path(of: file)])
        try await store.update(task.id) { $0 = task }
        #expect(try await phone.launch().client.pending().isEmpty)
        #expect(phone.leftovers == [])
    }

    @Test func `a full disk refuses the session, sends nothing and leaves nothing`() async throws {
        var step = 0
        while true {
            step += 1
            let phone = try EKYCPhone()
            let files = FaultyFiles(.fail(step: step))
            let process = phone.launch(isInstant: true, files: files)
            do throws(HeliographError) {
                let session = try await process.client.signIn(EKYCPhone.faces, email: "a@b.example")
                // The fault came later, or not at all: the session ends all the same.
                #expect(await session.taken() == .signedIn(userID: "user-1"))
                if files.steps < step { break }
            } catch {
                #expect(error.code == .storage)
                #expect(await process.sender.sent.isEmpty)
                #expect(phone.leftovers.allSatisfy { $0.hasSuffix(".json.new") })
            }
        }
        #expect(step > 10)
    }
}
