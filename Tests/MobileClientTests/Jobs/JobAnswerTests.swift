import Foundation
import Testing

@testable import MobileClient

@Suite struct JobAnswerTests {
    private func answer(_ data: String, status: Int = 200) throws -> JobAnswer {
        try JobAnswer(.json(#"{"success":true,"data":\#(data)}"#, status: status))
    }

    @Test func `a completed job has what the API names of its picture`() throws {
        let answer = try answer(
            """
            {"job_id":"a1","status":"completed","attempts":1,"created_at":"2026-01-01T00:00:00Z","result":{"image_url":"https://x/a.png",
            "thumbnail_url":"https://x/t.png","metadata":{"templateId":"ink","templateName":"Ink","modelUsed":"m","generationTimeMs":5,
            "originalDimensions":{"width":1,"height":2},"processedDimensions":{"width":3,"height":4}}}}
            """)
        #expect(answer.id == "a1")
        #expect(
            answer.reading
                == .ended(
                    .completed(
                        .init(imageURL: "https://x/a.png", thumbnailURL: "https://x/t.png", templateName: "Ink", width: 3, height: 4))))
    }

    @Test(arguments: [
        #"{"job_id":7,"status":"completed","result":"none"}"#, #"{"status":"completed"}"#,
        #"{"status":"completed","result":{"image_url":3,"metadata":[]}}"#,
    ])
    func `a member of an unexpected type is as good as none`(text: String) throws {
        #expect(try answer(text).reading == .ended(.completed(.init())))
        #expect(try answer(text).id == nil)
    }

    @Test func `a status that this version does not know is one of a job that works on`() throws {
        #expect(try answer(#"{"status":"queued_again"}"#).reading == .active(status: "queued_again"))
    }

    @Test func `a failed job says why, also when the API does not`() throws {
        #expect(
            try answer(#"{"status":"failed","error":{"code":"safety","message":"Blocked"}}"#).reading
                == .ended(.failed(.init(code: "safety", message: "Blocked"))))
        #expect(
            try answer(#"{"status":"failed","error":9}"#).reading
                == .ended(.failed(.init(code: "processing_failed", message: "The picture could not be made"))))
    }

    @Test(arguments: ["{}", #"{"data":{}}"#, "<html>", ""])
    func `an answer without a status is none of the API`(text: String) {
        #expect(throws: (any Error).self) { try JobAnswer(.json(text)) }
    }

    @Test func `what is kept on the device has a bound`() throws {
        let long = String(repeating: "x", count: 100_000)
        let answer = try answer(#"{"job_id":"\#(long)","status":"completed","result":{"image_url":"https://x/\#(long)"}}"#)
        #expect(answer.id == nil)
        #expect(answer.reading == .ended(.completed(.init())))
        guard case .ended(.failed(let failure)) = try self.answer(#"{"status":"failed","error":{"message":"\#(long)"}}"#).reading else {
            Issue.record("not failed")
            return
        }
        #expect(failure.message.count == 300)
    }

    @Test(arguments: ["../users/me", "a/b", "", "a b", "a?x", "ä", String(repeating: "a", count: 65)])
    func `a text that would lead to another route is no id of a job`(text: String) {
        #expect(!JobsRequests.isJobID(text))
    }

    @Test func `an order whose answer names no job has an unknown outcome`() async throws {
        let sender = ScriptedSender { _ in .json(#"{"data":{"job_id":"../x","status":"pending"}}"#, status: 202) }
        let error = await #expect(throws: HeliographError.self) {
            try await sender.send(JobsRequests.order(file: URL(fileURLWithPath: "/dev/null"), boundary: "b", key: UUID()))
        }
        #expect(error.map { JobReducer.orderAnswer($0) } == .unknown(retryAfter: nil))
    }

    @Test func `a picture's format is what its first bytes say`() {
        func bytes(_ text: String) -> Data { Data(text.utf8) }
        #expect(PictureFormat(Data([0xFF, 0xD8, 0xFF, 0xE0])) == .jpeg)
        #expect(PictureFormat(Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])) == .png)
        #expect(PictureFormat(bytes("RIFF1234WEBPVP8 ")) == .webp)
        #expect(PictureFormat(Data([0, 0, 0, 24]) + bytes("ftypheic0000mif1heic")) == .heic)
        #expect(PictureFormat(Data([0, 0, 0, 24]) + bytes("ftypmsf10000xxxxheix")) == .heic)
        #expect(PictureFormat(Data([0, 0, 0, 16]) + bytes("ftypisom0000heic")) == nil)
        for text in ["", "RIFF", "RIFF1234WAVE", "GIF89a", "<svg>", "\u{0}\u{0}\u{0}\u{4}ftyp"] {
            #expect(PictureFormat(bytes(text)) == nil)
        }
        // A slice of data does not begin at 0.
        #expect(PictureFormat(Data([1, 0xFF, 0xD8, 0xFF]).dropFirst()) == .jpeg)
    }
}
