import Foundation
import Testing

@testable import MobileClient

/// For how long the token of a failed session is kept, and where.
@Suite(.timeLimit(.minutes(2))) struct EKYCRetakeSecretTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    private var secrets: [String] { phone.leftovers.filter { $0.hasPrefix("secrets/") } }

    private func secret(of session: EKYCSession) -> String { "secrets/" + EKYCSecret.key(of: session.id) }

    @Test func `the token of a failed session is kept until its photos are retaken, and is in no record and no form`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(process)
        let token = try #require(phone.server.sessions.first).token
        #expect(secrets == [secret(of: failed)])
        phone.server.plan { $0.uploadRefusals = [EKYCServer.lost] }
        let session = try await process.client.retake([EKYCPhone.photo(8)], of: failed)
        await phone.time.waitForSleepers()
        #expect(secrets == [secret(of: session)])
        let others = phone.leftovers.filter { !$0.hasPrefix("secrets/") }
        #expect(others.count == 3 && others.contains { $0.hasSuffix(".ekyc") })
        for file in others {
            let data = try Data(contentsOf: phone.folder.url.appending(path: file))
            #expect(data.range(of: Data(token.utf8)) == nil)
        }
        await phone.pass(.seconds(3))
        await phone.time.waitForSleepers()
        let kept = try Data(contentsOf: phone.folder.url.appending(path: secret(of: session)))
        #expect(kept.range(of: Data(token.utf8)) == nil, "the new session does not need it any more")
        await phone.expectNoRetake(of: failed, process)
    }

    @Test func `the token is deleted when the app acknowledges the failure`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(process)
        await failed.acknowledge()
        #expect(phone.leftovers == [])
        await phone.expectNoRetake(of: failed, process)
        #expect(phone.time.sleeperCount == 0)
    }

    @Test func `the token is deleted when the time for a retake is over`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(process)
        await phone.time.waitForSleepers()
        phone.time.advance(by: .seconds(599))
        #expect(secrets.count == 1)
        await process.manager.wake()
        #expect(secrets.count == 1, "a question about other sessions does not end it")
        phone.time.advance(by: .seconds(1))
        await until { secrets.isEmpty }
        await phone.expectNoRetake(of: failed, process)
        #expect(await failed.result().photosToRetake?.count == 1 && phone.records.count == 1)
    }

    @Test func `a process that begins when the time is over, or whose clock was set back, deletes the token`() async throws {
        for seconds in [601, -4_000] {
            let phone = try EKYCPhone()
            let life = EKYCLife()
            _ = try await phone.failSignIn(phone.launch(life))
            life.kill()
            phone.time.set(phone.time.now.addingTimeInterval(Double(seconds)))
            let next = phone.launch()
            let failed = try #require(try await next.client.pending().first)
            #expect(!phone.leftovers.contains { $0.hasPrefix("secrets/") })
            await phone.expectNoRetake(of: failed, next)
        }
    }

    @Test func `photos are retaken in the next process, and one of several calls begins a retake`() async throws {
        let life = EKYCLife()
        let id = try await phone.failSignIn(phone.launch(life)).id
        life.kill()
        let next = phone.launch()
        let failed = try #require(try await next.client.pending().first)
        #expect(failed.id == id && secrets.count == 1)
        #expect(await failed.result().photosToRetake == [.init(.faces, 0, [.noFace])])
        let begun = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { (try? await next.client.retake([EKYCPhone.photo(8)], of: failed)) == nil ? 0 : 1 } }
            return await group.reduce(0, +)
        }
        await phone.time.waitForSleepers()
        #expect(begun == 1 && phone.server.sessions.map(\.isRetake) == [false, true])
    }

    @Test func `a device that is locked at launch keeps the token until it is unlocked`() async throws {
        let life = EKYCLife()
        let id = try await phone.failSignIn(phone.launch(life)).id
        life.kill()
        let locked = EKYCLife(locking: "secrets")
        let next = phone.launch(locked)
        try await next.manager.start()
        locked.unlock()
        await next.manager.wake()
        let failed = try #require(try await next.client.pending().first)
        #expect(failed.id == id)
        _ = try await next.client.retake([EKYCPhone.photo(8)], of: failed)
    }

    @Test func `a retake whose token is lost is not sent`() async throws {
        let life = EKYCLife()
        let first = phone.launch(life)
        let failed = try await phone.failSignIn(first)
        phone.server.plan { $0.uploadRefusals = [EKYCServer.lost] }
        let id = try await first.client.retake([EKYCPhone.photo(8)], of: failed).id
        await phone.time.waitForSleepers()
        life.kill()
        for secret in secrets { try FileManager.default.removeItem(at: phone.folder.url.appending(path: secret)) }
        let next = phone.launch(isInstant: true)
        let retake = try #require(try await next.client.pending().first { $0.id == id })
        #expect(await retake.result() == .outcomeUnknown)
        #expect(await next.sender.sent.isEmpty)
    }

    @Test func `another sign-in ends the time for a retake, and a sign-up by an address does not`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(process)
        _ = try await process.client.signUp(EKYCPhone.poses, email: "a@b.example")
        #expect(phone.leftovers.contains(secret(of: failed)))
        _ = try await process.client.signIn(EKYCPhone.faces, email: "a@b.example")
        #expect(!phone.leftovers.contains(secret(of: failed)))
        await phone.expectNoRetake(of: failed, process)
    }

    @Test func `an account that signs in ends the time for a retake in the name of the former one`() async throws {
        let process = phone.launch()
        phone.server.plan { ($0.asksBeforeDecision, $0.decision) = (0, EKYCPhone.failure()) }
        let failed = try await process.client.signUp(EKYCPhone.poses, as: .account)
        await phone.pass(.seconds(3))
        _ = await failed.result()
        phone.server.plan { $0.decision = #""state":"succeeded""# }
        let signIn = try await process.client.signIn(EKYCPhone.faces, email: "a@b.example")
        await phone.time.waitForSleepers(2)
        #expect(phone.leftovers.contains(secret(of: failed)))
        await process.manager.pushArrived(sessionID: try #require(phone.server.sessions.last).id.wireText)
        #expect(await signIn.result() == .signedIn(userID: "user-1"))
        await phone.expectNoRetake(of: failed, process)
    }

    @Test func `a sign-out leaves no token of a failed session`() async throws {
        let process = phone.launch()
        let failed = try await phone.failSignIn(process)
        try await process.manager.signedOut()
        #expect(phone.leftovers == [])
        await phone.expectNoRetake(of: failed, process)
    }
}
