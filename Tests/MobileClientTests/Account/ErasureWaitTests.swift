import Foundation
import Testing

@testable import MobileClient

/// The wait for the receipt of an erasure.
@Suite struct ErasureWaitTests {
    private let time = ManualTime()
    private let erasure = AccountClient.Erasure(id: UUID(), receiptToken: "secret", receiptPath: "/elsewhere")

    /// Answers in order, and the last one ever after.
    private actor Answers {
        private var outcomes: [Result<String, HeliographError>]

        init(_ outcomes: [Result<String, HeliographError>]) { self.outcomes = outcomes }

        func next() throws(HeliographError) -> String {
            try (outcomes.count > 1 ? outcomes.removeFirst() : outcomes[0]).get()
        }
    }

    private func progress(_ state: String, receipt: String? = nil) -> Result<String, HeliographError> {
        .success(
            """
            {"success":true,"data":{"erasure_id":"\(erasure.id)","scope":"account","state":"\(state)",\
            "requested_at":"2027-01-15T08:00:00Z",\
            "completed_at":null,"services":[{"service":"notifier","finished":true,"erased":{"pushes":3}}],\
            "receipt":\(receipt.map { "\"\($0)\"" } ?? "null")}}
            """)
    }

    private func client(_ outcomes: Result<String, HeliographError>..., time: TimeSource? = nil) -> (AccountClient, ScriptedSender) {
        let answers = Answers(outcomes)
        let sender = ScriptedSender { _ throws(HeliographError) in .json(try await answers.next()) }
        return (AccountClient(api: sender, time: time ?? self.time.source), sender)
    }

    /// Lets the waits pass that a task begins.
    private func pass(_ waits: Duration...) async {
        for wait in waits {
            await time.waitForSleepers()
            time.advance(by: wait)
        }
    }

    @Test func `the receipt is the bytes that were signed, and progress is reported on the way`() async throws {
        let (account, sender) = client(progress("erasing"), progress("erasing"), progress("completed", receipt: "h.p.s"))
        let (states, report) = AsyncStream.makeStream(of: String.self)
        async let receipt = account.receipt(of: erasure) { report.yield($0.state.rawValue) }
        await pass(.seconds(5), .seconds(10))
        #expect(try await receipt == Data("h.p.s".utf8))
        report.finish()
        #expect(await states.reduce(into: []) { $0.append($1) } == ["erasing", "erasing", "completed"])
        let sent = await sender.sent
        #expect(sent.count == 3 && Set(sent.map(\.bearer)) == [#"token("secret")"#])
        #expect(Set(sent.map(\.path)) == ["/v1/users/me/erasure/\(erasure.id.uuidString.lowercased())"], "no path of an answer is used")
    }

    @Test func `an error that may pass is waited out, for as long as the API says`() async throws {
        let waits = JumpingTime()
        let (account, sender) = client(
            .failure(HeliographError(.overloaded, "busy", status: 503, retryAfter: .seconds(60), isRetryable: true)),
            .failure(HeliographError(.unreachable, "no network", isRetryable: true)), progress("completed", receipt: "h.p.s"),
            time: waits.source)
        #expect(try await account.receipt(of: erasure) == Data("h.p.s".utf8))
        #expect(waits.sleeps == [.seconds(60), .seconds(10)])
        #expect(await sender.sent.count == 3)
    }

    @Test func `an erasure that is not known ends the wait at once`() async {
        let (account, sender) = client(.failure(HeliographError(.notFound, "Erasure not found", status: 404)))
        let error = await #expect(throws: HeliographError.self) { try await account.receipt(of: erasure) }
        #expect(error?.code == .notFound)
        #expect(await sender.sent.count == 1)
    }

    @Test func `the wait ends at its time, and no later request is begun`() async {
        let waits = JumpingTime()
        let (account, sender) = client(progress("erasing"), time: waits.source)
        let error = await #expect(throws: HeliographError.self) { try await account.receipt(of: erasure, timeout: .seconds(100)) }
        #expect(error?.code == .timedOut)
        #expect(waits.sleeps == [.seconds(5), .seconds(10), .seconds(20), .seconds(30), .seconds(30)])
        #expect(await sender.sent.count == 6)
    }

    @Test func `a cancelled wait ends`() async {
        let (account, _) = client(progress("erasing"))
        let waiting = Task { [erasure] in try await account.receipt(of: erasure) }
        await time.waitForSleepers()
        waiting.cancel()
        let error = await #expect(throws: HeliographError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `an erasure survives in a store of the app, and shows its token in no log`() throws {
        let stored = try JSONEncoder().encode(erasure)
        #expect(try JSONDecoder().decode(AccountClient.Erasure.self, from: stored) == erasure)
        #expect(!"\(erasure)".contains("secret"))
    }
}
