import Foundation
import Testing

@testable import MobileClient

/// What a client does that the app has released.
@Suite(.timeLimit(.minutes(2))) struct ClientLifetimeTests {
    private let bench: ClientBench

    init() throws { bench = try ClientBench() }

    /// A client with a session, an order, a conversation on the screen and a registration, none of which the API has heard of.
    private func busyClient() async throws {
        let client = try await bench.launch(as: "ada")
        bench.isOffline.withLock { $0 = true }
        _ = try await client.ekyc.signUp(EKYCPhone.poses)
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        await client.pushTokenChanged("another-phone")
        await bench.settle()
    }

    @Test func `a released client waits for nothing more`() async throws {
        try await busyClient()
        #expect(bench.time.sleeperCount > 0)
        bench.release()
        await until { bench.time.sleeperCount == 0 }
    }

    @Test func `what a released client has begun goes on in the next one`() async throws {
        try await busyClient()
        bench.release()
        bench.isOffline.withLock { $0 = false }
        let next = try await bench.launch()
        #expect(await bench.eventually { bench.api.jobs.count == 1 })
        #expect(try await next.ekyc.pending().count == 1)
    }
}
