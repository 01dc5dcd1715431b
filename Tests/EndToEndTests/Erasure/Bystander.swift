import Accounts
import FaceEngine
import Foundation
import HTTPClient
import HeliographCrypto
import TestSupport
import Testing

/// Another user, who shares topics with the person that is erased, and who is to lose nothing by that.
///
/// This user signs in with Firebase. The face is made up: of one person only there are photos from all sides.
struct Bystander: Sendable {
    static let name = "Ben Quagga"
    /// Tables where a row may be of both users, or names a user for the time of a push only.
    private static let sharedTables: Set = [
        "delivery_pages", "notifications", "outbox", "topic_fan_outs", "topic_invitation_log", "topic_invitations", "topic_photo_windows",
    ]

    /// What the user has.
    struct Belongings: Sendable {
        /// The number of rows with the user's id, by table.
        let rows: [String: Int]
        /// The number of notifications to the user.
        let notifications: Int
        /// The sealed face.
        let template: String
        let picture: [UInt8]
        /// The paths of the user's files in the blob store; none when the stack has another store.
        let blobs: Set<String>
    }

    let stack: Stack
    let phone: Phone
    let bearer: String
    /// The id, in lower case.
    let userID: String
    /// The id of an image job of the user.
    let jobID: String

    /// Makes the account with a picture.
    static func join(_ stack: Stack) async throws -> Bystander {
        let phone = try await Phone.make(stack)
        let bearer = try await phone.idToken(of: UUID().uuidString)
        #expect(try await phone.register(bearer: bearer).status == 200)
        #expect(try await phone.send("PUT", "/v1/users/me", json: #"{"display_name":"\#(name)"}"#, bearer: bearer).status == 200)
        let topic = try await phone.enter("event:ben-\(UUID().uuidString)", bearer: bearer)
        let userID = try #require(topic.body["data"]["user_id"].text)
        let order = try await phone.submit(try Photos.load(Photos.otherFace[0]), template: "vintage", bearer: bearer)
        #expect(try await phone.job(order.jobID, bearer: bearer)["status"].text == "completed")
        return Bystander(stack: stack, phone: phone, bearer: bearer, userID: userID, jobID: order.jobID)
    }

    /// Gives the user a face that is unlike any other.
    func enrolMadeUpFace(_ keys: KeyRings) async throws {
        func descriptor() -> FaceDescriptor {
            FaceDescriptor(normalising: (0..<FaceDescriptor.count).map { _ in Float.random(in: -1...1) })
        }
        let face = EnrolledFace(left: [descriptor()], right: [descriptor()], front: [descriptor()], isMirrored: false)
        let id = try #require(UUID(uuidString: userID))
        let sealed = try keys.seal(face.encoded(), for: .faces, context: SealingContext.faceTemplate(userID: id))
        try await stack.database.psql(
            """
            INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed)
            VALUES ('\(userID)', '\(face.modelID)', \(face.pipelineVersion), decode('\(Hex.encode(sealed))', 'hex'))
            """)
    }

    /// Adds a photo to a topic, and waits until it is shown.
    func addPhoto(to topic: String) async throws {
        #expect(try await phone.addPhoto(try Photos.load(Photos.otherFace[1]), to: topic, bearer: bearer).status == 202)
        try await eventually("the photo is ready") {
            let query = "SELECT count(*) FROM topic_photos WHERE uploader_id = '\(userID)' AND state = 'ready'"
            return try await stack.database.psql(query) == "1"
        }
    }

    /// Returns what the user has now.
    func belongings() async throws -> Belongings {
        let job = try await phone.job(jobID, bearer: bearer, query: "&result=url")
        let picture = try await phone.fetch(link: try #require(job["result"]["image_url"].text, "\(job)"))
        #expect(picture.status == 200 && picture.body.starts(with: [0xFF, 0xD8, 0xFF]))
        let count = "SELECT count(*) FROM notifications WHERE recipient_type = 'user' AND recipient_id = '\(userID)'"
        return Belongings(
            rows: try await DatabaseDump.of(stack.database).rows(containing: userID),
            notifications: try #require(Int(try await stack.database.psql(count))),
            template: try await stack.database.psql(
                "SELECT encode(template_sealed, 'hex') FROM face_templates WHERE user_id = '\(userID)'"),
            picture: picture.body, blobs: try await blobs().own)
    }

    /// Returns the paths of the files of the blob store: those of the user and all others.
    func blobs() async throws -> (own: Set<String>, others: Set<String>) {
        let query =
            "SELECT id FROM image_jobs WHERE user_id = '\(userID)' UNION ALL SELECT id FROM topic_photos WHERE uploader_id = '\(userID)'"
        let ids = try await stack.database.psql(query).split(separator: "\n")
        let files = Set(FileTree.files(below: stack.blobFolder))
        let own = files.filter { file in ids.contains { file.contains($0) } }
        return (own, files.subtracting(own))
    }

    /// Checks that nothing is missing of what the user had, and that the phone still gets pushes.
    func expectLossless(since before: Belongings) async throws {
        let after = try await belongings()
        let lost = before.rows.filter { !Self.sharedTables.contains($0.key) && after.rows[$0.key, default: 0] < $0.value }
        #expect(lost.isEmpty, "rows of another user are gone: \(lost)")
        #expect(after.notifications >= before.notifications && after.template == before.template)
        #expect(after.picture == before.picture)
        #expect(after.blobs.isSuperset(of: before.blobs))
        #expect(try await phone.get("/v1/users/me", bearer: bearer).body["data"]["display_name"].text == Self.name)
        let order = try await phone.submit(try Photos.load(Photos.otherFace[2]), template: "pencil-sketch", bearer: bearer)
        #expect(try await phone.job(order.jobID, bearer: bearer)["status"].text == "completed")
        _ = try await push { $0["data"]["jobId"].text == order.jobID }
    }

    /// Waits for a push to the user's phone, and returns it.
    func push(_ isWanted: (JSONAnswer) -> Bool) async throws -> JSONAnswer {
        var pushes: [JSONAnswer] = []
        while true {
            if let push = pushes.first(where: isWanted) { return push }
            pushes = try await phone.pushes(count: pushes.count + 1)
        }
    }
}
