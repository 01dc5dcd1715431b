import Foundation
import Testing

@testable import MobileClient

/// The process ends at each of its calls while photos are retaken; the next process goes on, or retakes them.
@Suite(.timeLimit(.minutes(5))) struct EKYCRetakeTerminationTests {
    /// A sign-in that has failed by one photo, left by a process of before.
    private func failedPhone() async throws -> EKYCPhone {
        let phone = try EKYCPhone()
        let life = EKYCLife()
        _ = try await phone.failSignIn(phone.launch(life))
        life.kill()
        phone.server.plan { $0.decisionOfRetake = #""state":"succeeded""# }
        return phone
    }

    /// Retakes the photo as an app does at each launch: the failed session is acknowledged once its retake is kept.
    private func retake(_ process: EKYCPhone.Process) async {
        guard let pending = try? await process.client.pending() else { return }
        for session in pending {
            let outcome = await session.result()
            if outcome.photosToRetake != nil, let retake = try? await process.client.retake([EKYCPhone.photo(8)], of: session) {
                await session.acknowledge()
                _ = await retake.taken()
            } else {
                await session.acknowledge()
            }
        }
    }

    @Test(arguments: [false, true])
    func `a retake goes on after an end of the process at any call`(isAfter: Bool) async throws {
        var step = 0
        while true {
            step += 1
            let phone = try await failedPhone()
            let life = EKYCLife(endsAt: (step, isAfter))
            let first = phone.launch(life, isInstant: true, upTo: .seconds(120))
            let run = Task { await retake(first) }
            let (ended, end) = AsyncStream.makeStream(of: Void.self)
            Task {
                await run.value
                end.yield()
            }
            Task { for await _ in life.death { end.yield() } }
            for await _ in ended { break }
            await retake(phone.launch(isInstant: true, upTo: .seconds(120)))
            let label = Comment(rawValue: "step \(step), isAfter \(isAfter)")
            #expect(await phone.credentials.tokens?.userID == "user-1", label)
            #expect(phone.server.sessions.map(\.isRetake) == [false, true], label)
            #expect(phone.leftovers.allSatisfy { $0.hasSuffix(".json.new") || $0.hasSuffix("~new") }, label)
            guard life.isOver else { break }
        }
        #expect(step > 20)
    }
}
