import Foundation
import Testing

@testable import MobileClient

/// Orders of pictures, from one process to the next and from one person to the next.
@Suite(.timeLimit(.minutes(5))) struct ClientOrderTests {
    private let bench: ClientBench

    init() throws { bench = try ClientBench() }

    @Test(arguments: [false, true])
    func `an order survives an end of the app at each of its requests, and ends once`(isHandled: Bool) async throws {
        for limit in 1...20 {
            let bench = try ClientBench()
            let former = ClientProcess(bench)
            _ = try await bench.launch(as: "ada", former)
            former.end()
            // The access token has expired, so that its renewal is among the requests.
            bench.time.advance(by: .seconds(7_200))
            let process = ClientProcess(bench, endsAt: limit, isHandled: isHandled)
            let client = try await bench.launch(process)
            let ends = bench.ends(of: client)
            let order = try await client.images.process(ClientBench.picture, template: "oil")
            await bench.eventually { process.isOver || !ends.withLock { $0.isEmpty } }
            await bench.settle()
            let isOver = process.isOver
            process.end()
            let next = try await bench.launch()
            let later = bench.ends(of: next)
            #expect(await bench.eventually { ends.withLock(\.count) + later.withLock(\.count) > 0 }, "at request \(limit)")
            #expect(await bench.eventually { (try? await next.images.pending().isEmpty) == true }, "at request \(limit)")
            let all = ends.withLock { $0 } + later.withLock { $0 }
            #expect(all.map(\.id) == [order.id] && all.first?.jobID == "job-0" && bench.api.jobs.count == 1, "at request \(limit)")
            guard isOver else {
                #expect(limit > 3)
                return
            }
        }
        Issue.record("the order has no end")
    }

    @Test(arguments: [false, true], [false, true])
    func `another account on the phone sees nothing of an order`(isSignedOut: Bool, isSent: Bool) async throws {
        bench.api.contents.withLock { $0.completesJobs = false }
        let client = try await bench.launch(as: "ada")
        bench.isOffline.withLock { $0 = !isSent }
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        #expect(await bench.eventually { bench.api.jobs.count == 1 || !isSent })
        bench.isOffline.withLock { $0 = false }
        if isSignedOut { #expect(await bench.result { try? await client.signOut() } == true) }
        try await client.parts.signIn(bench.api.signIn("bob", at: bench.time.now))
        #expect(try await client.images.pending().isEmpty)
        let ends = bench.ends(of: client)
        #expect(await bench.eventually { bench.api.installations["phone"] == "bob" })
        bench.time.advance(by: .seconds(120))
        await bench.settle()
        #expect(ends.withLock { $0.isEmpty } && bench.api.jobs.allSatisfy { $0.user == "ada" })
        #expect(bench.api.log.allSatisfy { !$0.hasSuffix(" bob") || !$0.contains("/images/") })
        #expect(bench.files.allSatisfy { !$0.hasPrefix("jobs/") })
    }

    @Test(arguments: ["ada", "bob"])
    func `a sign-in that is lost keeps orders for the same person, and ends them for another`(user: String) async throws {
        bench.api.contents.withLock { $0.completesJobs = false }
        let client = try await bench.launch(as: "ada")
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        #expect(await bench.eventually { bench.api.jobs.count == 1 })
        bench.api.endSignIns(of: "ada")
        #expect(await bench.eventually { (try? await client.credentials.session()) == .some(nil) })
        #expect(try await client.images.pending().count == 1)
        bench.api.completeJobs()
        let ends = bench.ends(of: client)
        await bench.settle()
        try await client.parts.signIn(bench.api.signIn(user, at: bench.time.now))
        #expect(await bench.eventually { !ends.withLock { $0.isEmpty } })
        let isCompleted = if case .completed = ends.withLock({ $0.first?.outcome }) { true } else { false }
        #expect(isCompleted == (user == "ada"))
        #expect(await bench.eventually { (try? await client.images.pending().isEmpty) == true })
        #expect(bench.api.log.allSatisfy { !$0.hasSuffix(" bob") || !$0.contains("/images/") })
    }

    @Test func `nothing is left a day after everything has ended`() async throws {
        bench.api.contents.withLock { $0.completesJobs = false }
        let process = ClientProcess(bench)
        let client = try await bench.launch(as: "ada", process)
        let ends = bench.ends(of: client)
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        #expect(await bench.eventually { bench.api.jobs.count == 1 })
        bench.isOffline.withLock { $0 = true }
        // One that is accepted, one that is not sent, and a session that is not uploaded.
        _ = try await client.images.process(ClientBench.picture, template: "oil")
        _ = try await client.ekyc.signUp(EKYCPhone.poses)
        await client.push.received(PushSamples.jobFailed("job-9"), in: .background)
        await bench.settle()
        process.end()
        bench.time.advance(by: .seconds(90_000))
        bench.isOffline.withLock { $0 = false }
        let next = try await bench.launch()
        let later = bench.ends(of: next)
        #expect(await bench.eventually { later.withLock(\.count) == 2 })
        #expect(later.withLock { $0.allSatisfy { $0.outcome == .expired } } && ends.withLock { $0.isEmpty })
        for session in try await next.ekyc.pending() { _ = await bench.result { await session.result() } }
        #expect(await bench.result { try? await next.signOut() } == true)
        bench.time.advance(by: .seconds(90_000))
        try await next.start()
        #expect(bench.files == ["credentials.json", "retired.json"])
    }
}
