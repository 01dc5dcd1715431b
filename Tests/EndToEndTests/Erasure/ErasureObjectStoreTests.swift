import Foundation
import HTTPClient
import TestSupport
import Testing

/// Tests that the pictures of an erased user are gone from an object store, in every version of an object.
@Suite struct ErasureObjectStoreTests {
    private struct Painter {
        let phone: Phone
        let bearer: String
        let link: String
        let picture: [UInt8]

        /// Makes an account with a picture and a photo of an event.
        static func join(_ stack: Stack, job: String, photo: String) async throws -> Painter {
            let phone = try await Phone.make(stack)
            let bearer = try await phone.idToken(of: UUID().uuidString)
            let topic = "event:\(UUID().uuidString)"
            let userID = try #require(try await phone.enter(topic, bearer: bearer).body["data"]["user_id"].text)
            let order = try await phone.submit(try Photos.load(job), template: "vintage", bearer: bearer)
            let result = try await phone.job(order.jobID, bearer: bearer, query: "&result=url")["result"]
            let link = try #require(result["image_url"].text, "\(result)")
            #expect(try await phone.addPhoto(try Photos.load(photo), to: topic, bearer: bearer).status == 202)
            try await eventually("the photo is ready") {
                let query = "SELECT count(*) FROM topic_photos WHERE uploader_id = '\(userID)' AND state = 'ready'"
                return try await stack.database.psql(query) == "1"
            }
            return Painter(phone: phone, bearer: bearer, link: link, picture: try await phone.fetch(link: link).body)
        }
    }

    @Test func `an erased user's pictures are gone from an object store, and another user's are not`() async throws {
        let server = try await S3Server.start(checksSignatures: false)
        let stack = try await Stack.start(settings: [
            "BLOB_STORE": "s3", "S3_ENDPOINT": server.url, "S3_BUCKET": S3Server.bucket, "S3_REGION": S3Server.region,
            "S3_ACCESS_KEY_ID": server.accessKeyID, "S3_SECRET_ACCESS_KEY": server.secretAccessKey,
        ])
        let bucket = BucketInspector(server: server, http: stack.http)
        let ben = try await Painter.join(stack, job: Photos.otherFace[0], photo: Photos.otherFace[1])
        let others = Set(try await bucket.versions())
        let ada = try await Painter.join(stack, job: Photos.front[0], photo: Photos.front[1])
        let photos = try [Photos.front[0], Photos.front[1]].map { Needle.pieces("photo \($0)", of: try Photos.load($0)) }
        let search = try PersonSearch(photos + [.pieces("result", of: ada.picture)], in: stack)

        let upload = try await bucket.beginUpload("images/control")
        let found = try await search.inBucket(bucket).places
        #expect(found.isSuperset(of: ["object of images", "sealed object of topics", "upload images/control"]), "\(found)")
        try await bucket.abortUpload("images/control", id: upload)

        let answer = try await ada.phone.send("DELETE", "/v1/users/me", bearer: ada.bearer)
        let (path, token) = (
            try #require(answer.body["data"]["receipt_url"].text), try #require(answer.body["data"]["receipt_token"].text)
        )
        try await eventually("the services with pictures have erased; image-worker: \(stack.tail(of: "image-worker"))") {
            let services = try await ada.phone.get(path, bearer: token).body["data"]["services"].elements
            let finished = services.filter { $0["finished"] == .bool(true) }.compactMap(\.["service"].text)
            return Set(finished).isSuperset(of: ["identity-api", "image-worker"])
        }
        #expect(try await search.inBucket(bucket).isEmpty)
        #expect(try search.inSpool().isEmpty)
        #expect(Set(try await bucket.versions()).isSubset(of: others))
        #expect(try await ada.phone.fetch(link: ada.link).status == 404)
        #expect(try await ben.phone.fetch(link: ben.link).body == ben.picture)
    }
}
