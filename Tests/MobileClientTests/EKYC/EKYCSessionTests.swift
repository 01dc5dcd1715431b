import Foundation
import Testing

@testable import MobileClient

/// Sessions as an app sees them: pushes, polling, repetitions and ends.
@Suite struct EKYCSessionTests {
    private let phone: EKYCPhone

    init() throws { phone = try EKYCPhone() }

    private func signIn(_ process: EKYCPhone.Process) async throws -> EKYCSession {
        try await process.client.signIn(EKYCPhone.faces, email: "a@b.example")
    }

    private func requests(_ process: EKYCPhone.Process, _ method: String) async -> [ScriptedSender.Sent] {
        await process.sender.sent.filter { $0.method == method }
    }

    @Test func `a push has the state asked for at once`() async throws {
        phone.server.plan { $0.asksBeforeDecision = 0 }
        let process = phone.launch()
        let session = try await signIn(process)
        await phone.time.waitForSleepers()
        #expect(await requests(process, "GET").isEmpty)
        await process.manager.pushArrived(sessionID: try #require(phone.server.sessions.first).id.uuidString)
        // When the handler of the push returns, the tokens are stored: the system may suspend the app.
        #expect(await phone.credentials.tokens?.accessToken == "access-0")
        #expect(await session.result() == .signedIn(userID: "user-1"))
    }

    @Test func `a push about a session that is not decided signs no person in`() async throws {
        phone.server.plan { $0.asksBeforeDecision = nil }
        let process = phone.launch()
        _ = try await signIn(process)
        await phone.time.waitForSleepers()
        await process.manager.pushArrived(sessionID: try #require(phone.server.sessions.first).id.wireText)
        #expect(await requests(process, "GET").count == 1)
        #expect(await phone.credentials.tokens == nil && phone.server.sessions.first?.redemptions == 0)
    }

    @Test(arguments: ["", "not an id", "\",\"", "5B0C9A4E-0000-4000-8000-000000000000"])
    func `a push about another session changes nothing`(id: String) async throws {
        let process = phone.launch()
        _ = try await signIn(process)
        await phone.time.waitForSleepers()
        await process.manager.pushArrived(sessionID: id)
        #expect(await requests(process, "GET").isEmpty)
    }

    @Test func `a push that overtakes the answer to the upload has the state asked for after it`() async throws {
        phone.server.plan {
            $0.asksBeforeDecision = 0
            $0.uploadAnswersLost = 1
        }
        let process = phone.launch()
        let session = try await signIn(process)
        await phone.time.waitForSleepers()
        await process.manager.pushArrived(sessionID: try #require(phone.server.sessions.first).id.wireText)
        phone.time.advance(by: .seconds(3))
        // No other wait: the push was kept.
        #expect(await session.result() == .signedIn(userID: "user-1"))
    }

    @Test func `a new device waits for the mailed code, and signs in with it`() async throws {
        phone.server.plan { ($0.asksBeforeDecision, $0.code) = (0, "482913") }
        let process = phone.launch()
        let session = try await signIn(process)
        await phone.time.waitForSleepers()
        let id = try #require(phone.server.sessions.first).id
        // The handler of the push returns, although the person has not entered the code.
        await process.manager.pushArrived(sessionID: id.wireText)
        let awaited = EKYCSession.AwaitedCode(verificationID: id, reference: "KFTM")
        #expect(await session.current == .awaitingCode(sessionID: id, awaited, attemptsLeft: nil))
        await session.enter(code: "111111")
        #expect(
            await session.first { $0 != .awaitingCode(sessionID: id, awaited, attemptsLeft: nil) }
                == .awaitingCode(sessionID: id, awaited, attemptsLeft: 3))
        await session.enter(code: "482913")
        #expect(await session.result() == .signedIn(userID: "user-1"))
        #expect(await phone.credentials.tokens?.accessToken == "access-0")
    }

    @Test func `a new device that another device confirms signs in without a code`() async throws {
        phone.server.plan { ($0.asksBeforeDecision, $0.code) = (0, "482913") }
        let session = try await signIn(phone.launch())
        await phone.time.waitForSleepers()
        phone.time.advance(by: .seconds(3))
        _ = await session.first { if case .awaitingCode = $0 { true } else { false } }
        await phone.time.waitForSleepers()
        phone.server.plan { $0.code = nil }
        phone.time.advance(by: .seconds(5))
        #expect(await session.result() == .signedIn(userID: "user-1"))
    }

    @Test func `a process that begins while a code is awaited asks for it again`() async throws {
        phone.server.plan { ($0.asksBeforeDecision, $0.code) = (0, "482913") }
        let life = EKYCLife()
        let first = phone.launch(life)
        _ = try await signIn(first)
        await phone.time.waitForSleepers()
        let id = try #require(phone.server.sessions.first).id
        await first.manager.pushArrived(sessionID: id.wireText)
        life.kill()
        let second = phone.launch(isInstant: true)
        let session = try #require(try await second.client.pending().first)
        let awaited = EKYCSession.AwaitedCode(verificationID: id, reference: "KFTM")
        #expect(await session.current == .awaitingCode(sessionID: id, awaited, attemptsLeft: nil))
        await session.enter(code: "482913")
        #expect(await session.result() == .signedIn(userID: "user-1"))
    }

    @Test func `a process that ends between the right code and its answer costs no other code`() async throws {
        phone.server.plan { ($0.asksBeforeDecision, $0.code) = (0, "482913") }
        let life = EKYCLife()
        let first = phone.launch(life)
        _ = try await signIn(first)
        await phone.time.waitForSleepers()
        await first.manager.pushArrived(sessionID: try #require(phone.server.sessions.first).id.wireText)
        life.kill()
        phone.server.loseTokens()
        let session = try #require(try await phone.launch(isInstant: true).client.pending().first)
        #expect(await session.result() == .signedIn(userID: "user-1"))
    }

    @Test func `without a push the state is asked for every three seconds, twenty times, and then held`() async throws {
        phone.server.plan { $0.asksBeforeDecision = 21 }
        let process = phone.launch()
        let session = try await signIn(process)
        for asks in 0..<21 {
            await phone.time.waitForSleepers()
            #expect(await requests(process, "GET").count == asks)
            phone.time.advance(by: .seconds(3))
        }
        await phone.time.waitForSleepers()
        let waits = await requests(process, "GET").map { $0.query.first?.value }
        #expect(waits == Array(repeating: nil, count: 20) + ["30"])
        phone.time.advance(by: .seconds(3))
        #expect(await session.result() == .signedIn(userID: "user-1"))
    }

    @Test func `an upload whose answer is lost is repeated with its key and photos, and begins no other session`() async throws {
        phone.server.plan { $0.uploadAnswersLost = 2 }
        let process = phone.launch(isInstant: true)
        let session = try await signIn(process)
        #expect(await session.result() == .signedIn(userID: "user-1"))
        let uploads = await requests(process, "POST").prefix(3)
        #expect(Set(uploads.map(\.idempotencyKey)) == [session.id] && Set(uploads.map(\.body)).count == 1)
        #expect(phone.server.sessions.count == 1)
    }

    @Test func `an upload without an answer for nine minutes ends as unknown`() async throws {
        phone.server.plan { $0.uploadAnswersLost = .max }
        let process = phone.launch(isInstant: true)
        let start = phone.time.now
        let session = try await signIn(process)
        #expect(await session.result() == .outcomeUnknown)
        #expect((540...660).contains(phone.time.now.timeIntervalSince(start)))
        #expect(phone.server.sessions.count == 1)
    }

    @Test func `a process that begins after ten minutes repeats no upload`() async throws {
        phone.server.plan { $0.uploadAnswersLost = 1 }
        let life = EKYCLife()
        _ = try await signIn(phone.launch(life))
        await phone.time.waitForSleepers()
        phone.time.advance(by: .milliseconds(1))
        life.kill()
        phone.time.advance(by: .seconds(601))
        let second = phone.launch(isInstant: true)
        let session = try #require(try await second.client.pending().first)
        #expect(await session.result() == .outcomeUnknown)
        #expect(await second.sender.sent.isEmpty)
    }

    @Test func `photos are deleted as soon as the upload is answered`() async throws {
        let process = phone.launch()
        _ = try await signIn(process)
        await phone.time.waitForSleepers()
        #expect(phone.leftovers.filter { $0.contains("files/") } == [])
        #expect(phone.leftovers.count == 2)
    }

    @Test func `a session shows its states in their order, to each who listens, and ends`() async throws {
        let process = phone.launch()
        let session = try await signIn(process)
        let streams = [session.states, session.states]
        for _ in 0..<2 {
            await phone.time.waitForSleepers()
            phone.time.advance(by: .seconds(3))
        }
        let id = try #require(phone.server.sessions.first).id
        for stream in streams {
            var states: [EKYCSession.State] = []
            for await state in stream { states.append(state) }
            let all: [EKYCSession.State] = [
                .uploading, .examining(sessionID: id), .signingIn(sessionID: id), .ended(.signedIn(userID: "user-1")),
            ]
            #expect(states == Array(all.suffix(states.count)) && states.count >= 2)
        }
    }
}

extension EKYCSession {
    /// The present state.
    fileprivate var current: State? { get async { await first { _ in true } } }

    /// Waits for a state.
    fileprivate func first(where holds: (State) -> Bool) async -> State? {
        for await state in states where holds(state) { return state }
        return nil
    }
}
