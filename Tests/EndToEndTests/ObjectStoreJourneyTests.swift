import Foundation
import HTTPClient
import TestSupport
import Testing

/// Tests image jobs with an object store in place of a folder.
@Suite struct ObjectStoreJourneyTests {
    @Test func `pictures are stored in an object store, which serves them itself`() async throws {
        let server = try await S3Server.start(checksSignatures: false)
        let stack = try await Stack.start(settings: [
            "BLOB_STORE": "s3", "S3_ENDPOINT": server.url, "S3_BUCKET": S3Server.bucket, "S3_REGION": S3Server.region,
            "S3_ACCESS_KEY_ID": server.accessKeyID, "S3_SECRET_ACCESS_KEY": server.secretAccessKey,
        ])
        let phone = try await Phone.make(stack)
        let token = try await phone.accessToken()
        let accepted = try await phone.submit(try Photos.load(Photos.front[0]), template: "vintage", bearer: token)
        #expect(accepted.status == 202)
        let job = try await phone.job(accepted.jobID, bearer: token, query: "&result=url")
        #expect(job["status"].text == "completed", "\(job["error"])")
        for name in ["image_url", "thumbnail_url"] {
            let link = try #require(job["result"][name].text)
            #expect(link.hasPrefix(server.url))
            let picture = try await phone.fetch(link: link)
            #expect(picture.status == 200)
            #expect(picture.header("content-type") == "image/jpeg")
            #expect(picture.body.starts(with: [0xFF, 0xD8, 0xFF]))
        }
        let inline = try await phone.job(accepted.jobID, bearer: token)
        #expect(inline["result"]["processed_image_base64"].text?.hasPrefix("data:image/jpeg;base64,") == true)
        #expect(stack.blobCount() == 0, "nothing is in the folder")
    }
}
