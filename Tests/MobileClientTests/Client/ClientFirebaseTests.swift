import Foundation
import Testing

@testable import MobileClient

/// An app that signs in with Firebase.
@Suite(.timeLimit(.minutes(5))) struct ClientFirebaseTests {
    private let bench: ClientBench
    private let person = Locked("ada")

    init() throws { bench = try ClientBench() }

    private func launch(_ process: ClientProcess? = nil) async throws -> HeliographClient {
        let client = try bench.client(process, firebase: { [person] _ in person.withLock { "firebase-\($0)" } })
        try await client.start()
        await client.pushTokenChanged("phone")
        try await client.signedInWithFirebase(uid: person.withLock { $0 })
        return client
    }

    @Test func `the push token follows the person from sign-in to sign-out, and is not registered again by each launch`() async throws {
        let process = ClientProcess(bench)
        _ = try await launch(process)
        #expect(await bench.eventually { bench.files.contains("registration.json") })
        process.end()
        let next = try await launch()
        await bench.settle()
        #expect(bench.api.count("POST /v1/users/device-token") == 1)
        #expect(await bench.result { try? await next.signOut() } == true)
        #expect(bench.api.installations.isEmpty)
    }

    @Test func `the next process sends a sign-out without a network, with the token of the person who left`() async throws {
        let process = ClientProcess(bench)
        let client = try await launch(process)
        #expect(await bench.eventually { bench.api.installations == ["phone": "ada"] })
        bench.isOffline.withLock { $0 = true }
        #expect(await bench.result { try? await client.signOut() } == false)
        process.end()
        person.withLock { $0 = "bob" }
        bench.isOffline.withLock { $0 = false }
        _ = try await launch()
        #expect(await bench.eventually { bench.api.installations == ["phone": "bob"] })
        #expect(bench.api.count("POST /api/v1/auth/logout ada") == 1)
    }

    @Test func `what another person has begun ends when the app did not say that they left`() async throws {
        bench.api.contents.withLock { $0.completesJobs = false }
        let client = try await launch()
        let ends = bench.ends(of: client)
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        #expect(await bench.eventually { bench.api.jobs.count == 1 })
        try await client.signedInWithFirebase(uid: "ada")
        #expect(try await client.images.pending().count == 1)
        person.withLock { $0 = "bob" }
        try await client.signedInWithFirebase(uid: "bob")
        #expect(try await client.images.pending().isEmpty)
        #expect(await bench.eventually { ends.withLock { $0.map(\.outcome) == [.cancelled] } && bench.api.installations["phone"] == "bob" })
    }

    @Test func `an app without Firebase has no sign-in there`() async throws {
        let client = try await bench.launch()
        let error = await #expect(throws: HeliographError.self) { try await client.signedInWithFirebase() }
        #expect(error?.code == .invalidArgument)
    }
}
