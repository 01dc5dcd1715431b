import Foundation
import Testing

@testable import MobileClient

/// Ends the process at every call of a port in turn, over a real store.
@Suite struct BackgroundUploadCrashTests {
    /// What the world outside does while the first process lives.
    enum Weather: CaseIterable, Sendable {
        case fine, refused, oldBearer, lostAnswer, forceQuit
    }

    @Test(arguments: Weather.allCases)
    func `an order ends once wherever the process ends`(weather: Weather) async throws {
        var calls = 0
        repeat {
            calls += 1
            let life = ProcessLife(endsAt: calls)
            let phone = try UploadPhone()
            guard try await Self.live(phone, life, weather) else { break }
            await Self.revive(phone, weather)
            let problem = Self.problem(of: phone, weather)
            #expect(problem == nil, "the process ended at call \(calls): \(problem ?? "")")
        } while calls < 500
        // The way from the order to the acknowledgement has many more calls than a test that does nothing.
        #expect((15..<500).contains(calls), "\(calls) calls")
    }

    private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    /// The first process: from the launch to the acknowledgement, or to its end; returns whether it has ended before.
    private static func live(_ phone: UploadPhone, _ life: ProcessLife, _ weather: Weather) async throws -> Bool {
        if weather == .oldBearer { phone.system.setBearers(["new"]) }
        if weather == .refused { phone.system.refuse(refusal) }
        let order = try phone.order(id)
        let uploads = try phone.launch(life)
        let hasEnded = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await phone.tracker.follow(order, uploads, life)
                return true
            }
            group.addTask {
                await life.over()
                return true
            }
            group.addTask {
                var isFirst = true
                while !Task.isCancelled {
                    for task in phone.system.liveTasks {
                        if weather == .lostAnswer, isFirst {
                            phone.system.post(task)
                            phone.system.fail(task, .connectionLost)
                        } else {
                            phone.system.finish(task)
                        }
                        isFirst = false
                    }
                    await Task.yield()
                }
                return false
            }
            for await isOver in group where isOver { break }
            let hasEnded = life.isOver
            life.end()
            group.cancelAll()
            return hasEnded
        }
        phone.system.endProcess()
        if weather == .forceQuit { phone.system.forceQuit() }
        return hasEnded
    }

    /// The next process, woken up by the system, which nothing ends.
    private static func revive(_ phone: UploadPhone, _ weather: Weather) async {
        phone.system.finishAll()
        guard let uploads = try? phone.launch(), let order = try? phone.order(id) else { return }
        let handler = HandlerCounter()
        let isTaken = await uploads.handleEvents(identifier: "com.example.uploads", completion: handler.completion)
        phone.system.finishEvents()
        let network = Task {
            while !Task.isCancelled {
                phone.system.finishAll()
                await Task.yield()
            }
        }
        await phone.tracker.follow(order, uploads)
        network.cancel()
        await handler.wait()
        #expect(isTaken && handler.count == 1)
        phone.time.advance(by: .seconds(90_000))
        try? await uploads.sweep()
    }

    private static func problem(of phone: UploadPhone, _ weather: Weather) -> String? {
        let expected = weather == .refused ? "invalid_image" : "job-0"
        if phone.tracker.outcomes != [id: expected] { return "outcomes \(phone.tracker.outcomes)" }
        if !phone.tracker.faults.isEmpty { return "two outcomes: \(phone.tracker.faults)" }
        if !phone.system.faults.isEmpty { return phone.system.faults.joined(separator: ", ") }
        if !phone.system.tasks.isEmpty { return "tasks are left" }
        if phone.system.jobs != (weather == .refused ? [] : ["job-0"]) { return "jobs \(phone.system.jobs)" }
        return phone.files.isEmpty ? nil : "files are left: \(phone.files)"
    }

    private static let refusal = TransportResponse.json(
        #"{"success":false,"code":1005,"message":"no","error":{"code":"invalid_image"}}"#, status: 400)
}
