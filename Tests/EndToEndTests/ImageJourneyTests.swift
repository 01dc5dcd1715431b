import Foundation
import HTTPClient
import TestSupport
import Testing

/// Tests image jobs through the real executables, from the photo to the picture and its rich push.
@Suite struct ImageJourneyTests {
    @Test func `a phone posts a photo, gets a rich push and fetches the picture`() async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        let token = try await phone.accessToken()
        let told = try await phone.pushes(count: 2).count
        let accepted = try await phone.submit(try Photos.load(Photos.front[0]), template: "pencil-sketch", bearer: token)
        #expect(accepted.status == 202)
        #expect(accepted.body["data"]["status"].text == "pending")

        let push = try await phone.pushes(count: told + 1)[told]
        #expect(push["notification"]["title"].text == "Image Ready! 🎨")
        #expect(push["data"]["type"].text == "job_completed")
        #expect(push["data"]["jobId"].text == accepted.jobID)
        let link = try #require(push["apns"]["fcm_options"]["image"].text)
        #expect(link.hasPrefix("https://"))
        let thumbnail = try await phone.fetch(link: link)
        #expect(thumbnail.status == 200)
        #expect(thumbnail.header("content-type") == "image/jpeg")
        #expect(thumbnail.body.count <= 300 << 10)
        #expect(thumbnail.body.starts(with: [0xFF, 0xD8, 0xFF]))

        let job = try await phone.job(accepted.jobID, bearer: token)
        #expect(job["status"].text == "completed")
        let picture = try #require(job["result"]["processed_image_base64"].text)
        #expect(picture.hasPrefix("data:image/jpeg;base64,"))
        #expect(job["result"]["metadata"]["templateId"].text == "pencil-sketch")
        #expect(job["result"]["metadata"]["modelUsed"].text != nil)
    }

    @Test func `a Firebase user orders a picture and gets its push, without a sign-in here`() async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        let token = try await phone.idToken(of: "painter-\(UUID().uuidString)")
        #expect(try await phone.register(bearer: token).status == 200)
        let accepted = try await phone.submit(try Photos.load(Photos.front[0]), template: "pencil-sketch", bearer: token)
        #expect(accepted.status == 202)
        let push = try await phone.pushes()[0]
        #expect(push["data"]["jobId"].text == accepted.jobID)
        #expect(try await phone.job(accepted.jobID, bearer: token)["status"].text == "completed")
    }

    @Test func `the same request sent twenty times at once is one job, with one answer`() async throws {
        let stack = try await Stack.shared()
        let phone = try await Phone.make(stack)
        let token = try await phone.accessToken()
        let (picture, id) = (try Photos.load(Photos.front[1]), UUID())
        let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<20 {
                group.addTask { try await phone.submit(picture, template: "vintage", requestID: id, bearer: token) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { [202, 409].contains($0.status) })
        let jobs = Set(answers.filter { $0.status == 202 }.map(\.jobID))
        #expect(jobs.count == 1)
        let later = try await phone.submit(picture, template: "vintage", requestID: id, bearer: token)
        #expect(later.status == 202)
        #expect(later.jobID == jobs.first)
        let other = try await phone.submit(picture, template: "watercolor", requestID: id, bearer: token)
        #expect(other.status == 422)
    }
}
