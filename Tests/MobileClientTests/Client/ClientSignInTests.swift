import Foundation
import Testing

@testable import MobileClient

/// Sign-ins that begin and end, and what follows them.
@Suite(.timeLimit(.minutes(5))) struct ClientSignInTests {
    private let bench: ClientBench

    init() throws { bench = try ClientBench() }

    @Test func `a sign-in by face signs in, registers the push token, and survives a relaunch`() async throws {
        let process = ClientProcess(bench)
        let client = try await bench.launch(process)
        let session = try await client.ekyc.signIn(EKYCPhone.faces, email: "ada@example.org")
        #expect(await bench.result { await session.result() } == .signedIn(userID: "ada"))
        #expect(await bench.eventually { bench.files.contains("registration.json") })
        #expect(bench.api.installations == ["phone": "ada"])
        process.end()
        let next = try await bench.launch()
        #expect(try await next.credentials.session()?.userID == "ada")
        await bench.settle()
        #expect(bench.api.count("POST /v1/users/device-token") == 1 && bench.api.signedIn == ["ada"])
    }

    @Test(arguments: [false, true])
    func `a sign-in by face survives an end of the app at each of its requests`(isHandled: Bool) async throws {
        for limit in 1...20 {
            let bench = try ClientBench()
            let process = ClientProcess(bench, endsAt: limit, isHandled: isHandled)
            let client = try await bench.launch(process)
            _ = try await client.ekyc.signIn(EKYCPhone.faces, email: "ada@example.org")
            await bench.eventually { process.isOver || bench.api.installations["phone"] == "ada" }
            await bench.settle()
            guard process.isOver else {
                #expect(limit > 4)
                return
            }
            let next = try await bench.launch()
            #expect(await bench.eventually { bench.api.installations["phone"] == "ada" }, "at request \(limit)")
            #expect(try await next.credentials.session()?.userID == "ada" && bench.api.signedIn == ["ada"], "at request \(limit)")
        }
        Issue.record("the sign-in has no end")
    }

    @Test func `a sign-out without a network holds, and the API hears of it from the next process`() async throws {
        let process = ClientProcess(bench)
        let client = try await bench.launch(as: "ada", process)
        bench.isOffline.withLock { $0 = true }
        #expect(await bench.result { try? await client.signOut() } == false)
        #expect(try await client.credentials.session() == nil && bench.api.signedIn == ["ada"])
        process.end()
        bench.isOffline.withLock { $0 = false }
        let next = try await bench.launch()
        #expect(await bench.eventually { bench.api.signedIn.isEmpty && bench.api.installations.isEmpty })
        // The token is the next person's without a hand-over.
        try await next.parts.signIn(bench.api.signIn("bob", at: bench.time.now))
        #expect(await bench.eventually { bench.api.installations == ["phone": "bob"] })
        #expect(bench.api.signedIn == ["bob"] && bench.api.count("POST /v1/users/device-token bob") == 1)
    }

    @Test func `the next person's token is theirs also where the API did not hear of the sign-out before`() async throws {
        let client = try await bench.launch(as: "ada")
        bench.isOffline.withLock { $0 = true }
        #expect(await bench.result { try? await client.signOut() } == false)
        try await client.parts.signIn(bench.api.signIn("bob", at: bench.time.now))
        bench.isOffline.withLock { $0 = false }
        await client.networkChanged(isOnline: true)
        #expect(await bench.eventually { bench.api.installations == ["phone": "bob"] && bench.api.signedIn == ["bob"] })
    }

    @Test func `a sign-in that the API has ended is not used any more`() async throws {
        let client = try await bench.launch(as: "ada")
        bench.api.endSignIns(of: "ada")
        bench.time.advance(by: .seconds(60))
        await #expect(throws: HeliographError.self) { try await client.chat.markRead("c-1") }
        #expect(await bench.eventually { await client.parts.registrar.runner().state.signIn == nil })
        #expect(await bench.result { try? await client.signOut() } == true)
        #expect(bench.api.count("POST /api/v1/auth/logout") == 0)
    }

    @Test(arguments: [false, true])
    func `a request by which the API ends the sign-in ends it here, with all that was begun`(isErasure: Bool) async throws {
        bench.api.contents.withLock { $0.completesJobs = false }
        let client = try await bench.launch(as: "ada")
        let ends = bench.ends(of: client)
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        #expect(await bench.eventually { bench.api.jobs.count == 1 })
        if isErasure {
            #expect(try await client.account.erase().receiptToken == "receipt")
        } else {
            try await client.account.endAllSignIns()
        }
        #expect(try await client.credentials.session() == nil)
        #expect(try await client.images.pending().isEmpty)
        #expect(await bench.eventually { ends.withLock { $0.map(\.outcome) == [.cancelled] } })
        #expect(await client.parts.registrar.runner().state.signIn == nil)
        #expect(bench.api.count("POST /api/v1/auth/logout") == 0 && bench.api.count("POST /api/v1/auth/refresh") == 0)
    }

    @Test(arguments: [false, true]) func `a sign-out ends what was begun, also for the same person`(isOffline: Bool) async throws {
        bench.api.contents.withLock { $0.completesJobs = false }
        let client = try await bench.launch(as: "ada")
        let ends = bench.ends(of: client)
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        #expect(await bench.eventually { bench.api.jobs.count == 1 })
        bench.isOffline.withLock { $0 = isOffline }
        #expect(await bench.result { try? await client.signOut() } == !isOffline)
        #expect(try await client.images.pending().isEmpty && bench.files.allSatisfy { !$0.hasPrefix("jobs/") })
        #expect(await bench.eventually { ends.withLock { $0.map(\.outcome) == [.cancelled] } })
    }

    @Test func `a request that fails ends nothing`() async throws {
        let client = try await bench.launch(as: "ada")
        bench.isOffline.withLock { $0 = true }
        let error = await bench.result { () async -> HeliographError? in
            do throws(HeliographError) { _ = try await client.account.erase() } catch { return error }
            return nil
        }
        #expect(error??.code == .unreachable)
        #expect(try await client.credentials.session()?.userID == "ada")
    }
}
