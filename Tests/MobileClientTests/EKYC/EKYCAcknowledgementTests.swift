import Foundation
import Testing

@testable import MobileClient

/// What is kept of a session between its end and the app's acknowledgement.
@Suite struct EKYCAcknowledgementTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    private func signIn(_ process: EKYCPhone.Process) async throws -> EKYCSession {
        try await process.client.signIn(EKYCPhone.faces, email: "a@b.example")
    }

    @Test func `an outcome comes again after each launch until the app acknowledges it`() async throws {
        let first = phone.launch(isInstant: true)
        let session = try await signIn(first)
        #expect(await session.result() == .signedIn(userID: "user-1"))
        for _ in 0..<2 {
            let pending = try await phone.launch().client.pending()
            #expect(pending.map(\.id) == [session.id])
            #expect(await pending.first?.result() == .signedIn(userID: "user-1"))
        }
        let last = phone.launch()
        await (try #require(try await last.client.pending().first)).acknowledge()
        #expect(try await last.client.pending().isEmpty)
        #expect(try await phone.launch().client.pending().isEmpty)
    }

    @Test func `a session that has ended is pending in its own process until the app acknowledges it`() async throws {
        let process = phone.launch(isInstant: true)
        let session = try await signIn(process)
        _ = await session.result()
        for _ in 0..<2 { #expect(try await process.client.pending().map(\.id) == [session.id]) }
        await session.acknowledge()
        #expect(try await process.client.pending().isEmpty)
    }

    @Test func `an outcome is kept without the photos and the token`() async throws {
        let process = phone.launch(isInstant: true)
        let session = try await signIn(process)
        _ = await session.result()
        #expect(phone.leftovers == ["pending/tasks/\(session.id.wireText).json"])
    }

    @Test func `an acknowledgement removes the session, and again has no effect`() async throws {
        let process = phone.launch(isInstant: true)
        let session = try await signIn(process)
        _ = await session.result()
        for _ in 0..<2 {
            await session.acknowledge()
            #expect(phone.leftovers == [])
        }
        #expect(await session.result() == .signedIn(userID: "user-1"))
    }

    @Test func `an acknowledgement before the outcome has no effect`() async throws {
        let process = phone.launch()
        let session = try await signIn(process)
        await phone.time.waitForSleepers()
        await session.acknowledge()
        #expect(try await process.client.pending().map(\.id) == [session.id])
        #expect(try await process.store.tasks().map(\.isFinished) == [false])
    }

    @Test func `an outcome that is not acknowledged for a day comes once more, and is swept`() async throws {
        let first = phone.launch(isInstant: true)
        let session = try await signIn(first)
        _ = await session.result()
        phone.time.advance(by: .seconds(86_401))
        let second = phone.launch()
        try await second.manager.start()
        try await second.store.sweep()
        #expect(phone.leftovers == [])
        let pending = try #require(try await second.client.pending().first)
        #expect(await pending.taken() == .signedIn(userID: "user-1"))
        #expect(try await phone.launch().client.pending().isEmpty)
    }

    @Test func `an acknowledgement that the disk does not take leaves the outcome to the next process`() async throws {
        let life = EKYCLife()
        let first = phone.launch(life, isInstant: true)
        let session = try await signIn(first)
        _ = await session.result()
        life.kill()
        await session.acknowledge()
        let pending = try #require(try await phone.launch().client.pending().first)
        #expect(pending.id == session.id)
    }

    @Test func `a sign-in that was superseded is pending until the app acknowledges it`() async throws {
        let process = phone.launch()
        let first = try await signIn(process)
        phone.time.advance(by: .milliseconds(1))
        let second = try await signIn(process)
        #expect(try await process.client.pending().map(\.id) == [first.id, second.id])
        #expect(await first.taken() == .superseded)
        #expect(try await process.client.pending().map(\.id) == [second.id])
    }

    @Test func `a sign-out acknowledges the outcomes of before it`() async throws {
        let process = phone.launch(isInstant: true)
        let session = try await signIn(process)
        _ = await session.result()
        try await process.manager.signedOut()
        #expect(try await process.client.pending().isEmpty && phone.leftovers == [])
    }
}
