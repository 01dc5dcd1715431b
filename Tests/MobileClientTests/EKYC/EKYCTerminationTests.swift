import Foundation
import Testing

@testable import MobileClient

/// The process ends at each of its calls to files, secrets, the API and the credential store, before or after the call has its effect;
/// the next process goes on, and goes to the end.
@Suite struct EKYCTerminationTests {
    private actor Outcomes {
        var all: [EKYCSession.Outcome] = []
        func add(_ outcome: EKYCSession.Outcome) { all.append(outcome) }
    }

    /// Runs a session on a phone until it ends or the process does; returns the process, and whether the session was created for certain.
    private func run(
        _ kind: EKYCSession.Kind, on phone: EKYCPhone, _ life: EKYCLife, _ outcomes: Outcomes
    ) async -> (process: EKYCPhone.Process, hasReturned: Bool) {
        let process = phone.launch(life, isInstant: true)
        let (returned, hasReturned) = AsyncStream.makeStream(of: Bool.self)
        let task = Task {
            do {
                let session =
                    kind == .signUp
                    ? try await process.client.signUp(EKYCPhone.poses, email: "a@b.example")
                    : try await process.client.signIn(EKYCPhone.faces, email: "a@b.example")
                hasReturned.yield(true)
                await outcomes.add(await session.result())
                await session.acknowledge()
            } catch {
                hasReturned.yield(false)
            }
            hasReturned.finish()
        }
        let watch = Task { for await _ in life.death { hasReturned.finish() } }
        var isCreated = false
        for await isReturned in returned { isCreated = isCreated || isReturned }
        watch.cancel()
        if !life.isOver { await task.value }
        return (process, isCreated)
    }

    private func check(_ kind: EKYCSession.Kind, _ decision: String, _ expected: EKYCSession.Outcome, isAfter: Bool) async throws {
        var step = 0
        while true {
            step += 1
            let phone = try EKYCPhone()
            phone.server.plan { $0.decision = decision }
            let outcomes = Outcomes()
            let life = EKYCLife(endsAt: (step, isAfter))
            let first = await run(kind, on: phone, life, outcomes)
            guard life.isOver else {
                // Each call of a whole session was an end once.
                #expect(await outcomes.all == [expected] && phone.leftovers.isEmpty && step > 20)
                return
            }
            let second = phone.launch(isInstant: true)
            try await second.manager.start()
            let pending = try await second.client.pending()
            #expect(pending.count <= 1)
            for session in pending { await outcomes.add(await session.taken()) }
            let label = Comment(rawValue: "\(kind), step \(step), isAfter \(isAfter)")
            if first.hasReturned { await until(label) { await !outcomes.all.isEmpty } }
            let all = await outcomes.all
            #expect(all.allSatisfy { $0 == expected }, label)
            // Twice only where the first process ended between the report and the acknowledgement.
            #expect(all.count <= 2 && (all.count < 2 || !pending.isEmpty), label)
            #expect(try await second.client.pending().isEmpty, label)
            #expect(phone.leftovers.allSatisfy { $0.hasSuffix(".json.new") }, label)
            try await second.store.sweep()
            #expect(phone.leftovers == [], label)
            #expect(phone.server.sessions.count <= 1, label)
            let tokens = await phone.credentials.tokens
            #expect((tokens != nil) == (all.first == .signedIn(userID: "user-1")), label)
            if kind == .signUp { #expect(phone.server.sessions.allSatisfy { $0.redemptions == 0 }, label) }
        }
    }

    @Test(arguments: [false, true])
    func `a sign-in goes on after an end of the process at any call`(isAfter: Bool) async throws {
        try await check(.signIn, #""state":"succeeded""#, .signedIn(userID: "user-1"), isAfter: isAfter)
    }

    @Test(arguments: [false, true])
    func `a sign-up goes on after an end of the process at any call`(isAfter: Bool) async throws {
        try await check(.signUp, #""state":"succeeded""#, .enrolled(awaiting: nil), isAfter: isAfter)
    }

    @Test(arguments: [false, true])
    func `a refused sign-in ends after an end of the process at any call`(isAfter: Bool) async throws {
        let decision = #""state":"failed","reason":"no_match","retryable":true,"attempts_left":4"#
        let failure = EKYCSession.Failure(.noMatch, isRetryable: true, attemptsLeft: 4)
        try await check(.signIn, decision, .failed(failure), isAfter: isAfter)
    }
}
