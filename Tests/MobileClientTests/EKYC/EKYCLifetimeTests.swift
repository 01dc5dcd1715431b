import Foundation
import Testing

@testable import MobileClient

/// What becomes of sessions when the app releases its client.
@Suite(.timeLimit(.minutes(1))) struct EKYCLifetimeTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    /// Begins a sign-in, and releases its client while it waits for the next question.
    private func releaseInPause() async throws -> UUID {
        let id = try await phone.launch().client.signIn(EKYCPhone.faces, email: "a@b.example").id
        await phone.time.waitForSleepers()
        phone.release()
        return id
    }

    @Test func `a session of a released client waits no more`() async throws {
        _ = try await releaseInPause()
        await until { phone.time.sleeperCount == 0 }
    }

    @Test func `a request of a released client is cancelled`() async throws {
        let (cancelled, cancel) = AsyncStream.makeStream(of: Void.self)
        let (reached, reach) = AsyncStream.makeStream(of: Void.self)
        _ = try await phone.launch(beforeAnswer: { _ in
            await withTaskCancellationHandler {
                reach.yield()
                for await _ in cancelled { break }
            } onCancel: {
                cancel.finish()
            }
        }).client.signIn(EKYCPhone.faces, email: "a@b.example")
        for await _ in reached { break }
        phone.release()
        // The answer is given when the request is cancelled.
        await until { phone.server.sessions.count == 1 }
    }

    @Test func `the session of a released client goes on in the next one`() async throws {
        let id = try await releaseInPause()
        let next = phone.launch(isInstant: true)
        let pending = try #require(try await next.client.pending().first)
        #expect(pending.id == id)
        #expect(await pending.result() == .signedIn(userID: "user-1"))
        #expect(phone.server.sessions.count == 1)
    }
}
