import Foundation
import GeminiEmulator
import TestSupport
import Testing

@Suite struct KilledImageWorkerTests {
    private static let jobCount = 50
    /// The most concurrent calls of a worker.
    private static let concurrency = 4

    @Test func `fifty jobs whose worker is killed repeatedly end once, with one push, and are rarely paid twice`() async throws {
        let models = GeminiEmulator(
            configuration: {
                var configuration = GeminiEmulatorConfiguration()
                configuration.pictureSide = 64
                return configuration
            }())
        try await models.start()
        models.add(GeminiBehaviour(.picture, count: nil, latency: .milliseconds(200)))
        let stack = try await Stack.start(settings: [
            "IMAGE_GENERATOR": "gemini", "GEMINI_BASE_URL": models.url, "GEMINI_API_KEY": "gemini-emulator-key",
            "GEMINI_MODEL": "gemini-2.5-flash-image", "IMAGE_CONCURRENCY": "\(Self.concurrency)",
        ])
        let phone = try await Phone.make(stack)
        let token = try await phone.accessToken()
        let jobs = try await submitAll(phone, token)

        // The worker is killed after a fifth, two fifths, three fifths and four fifths of the calls.
        let kills = 4
        for kill in 1...kills {
            let calls = kill * Self.jobCount / (kills + 1)
            try await eventually("the model was called \(calls) times") { models.calls.count >= calls }
            await stack.kill("image-worker")
            try stack.launch("image-worker")
        }
        for id in jobs {
            let job = try await phone.job(id, bearer: token, query: "&result=url")
            #expect(job["status"].text == "completed", "\(job["error"])")
        }

        let paid = models.paidCounts
        #expect(paid.count == Self.jobCount)
        // A call in flight when its worker is killed is paid and its picture lost; each worker has at most `concurrency` of them.
        #expect(paid.values.reduce(0, +) - Self.jobCount <= kills * Self.concurrency)
        #expect(try await phone.pushes(count: 2 + Self.jobCount).count == 2 + Self.jobCount)
        // A push is at FCM before its delivery is settled.
        try await eventually("each was told of once") {
            try await stack.database.psql(
                "SELECT count(*), count(DISTINCT notification_id), min(state), max(state) FROM delivery_ledger "
                    + "WHERE notification_id IN (SELECT id FROM notifications WHERE kind = 'job_completed')")
                == "\(Self.jobCount)|\(Self.jobCount)|accepted|accepted"
        }
        await models.stop()
    }

    private func submitAll(_ phone: Phone, _ token: String) async throws -> [String] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<Self.jobCount {
                group.addTask {
                    let picture = DrawnPicture.png(width: 64, height: 64, seed: [UInt8(number), UInt8(255 - number), 7, 9, 11, 13])
                    let answer = try await phone.submit(picture, template: "watercolor", bearer: token)
                    #expect(answer.status == 202)
                    return answer.jobID
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
