import Foundation
import HTTPClient
import TestSupport

/// Two users from before all rotations. The data of the first must stay readable, and the phone of the second must get its pushes.
struct Witness: Sendable {
    /// The conversation of the two.
    static let conversation = "rotation"
    static let name = "Ada of before"

    /// The phone of Ada, who signs in by face, has a picture and sends messages.
    let ada: Phone
    /// The phone of Ben, whose push token was stored once, before all rotations.
    let ben: Phone
    let email: String
    let access: String
    let refresh: String
    /// A finished job, its picture and the link to its thumbnail.
    let job: (id: String, picture: String, link: String)
    /// Photos that signed in before.
    let photos: [[UInt8]]

    /// Makes the two users on a stack, with the data that the checks need.
    static func make(on stack: Stack) async throws -> Witness {
        let (ada, ben) = (try await Phone.make(stack), try await Phone.make(stack))
        let email = "ada-\(UUID().uuidString.lowercased())@example.org"
        _ = try await ada.enrol(email: email)
        let photos = try Photos.variants(of: Photos.sameFace)
        let session = try await ada.signIn(email: email, photos: photos)
        _ = try await ada.outcome(of: session)
        let grant = try await ada.redeem(session, email: email).body
        let (access, refresh) = (try text(grant, "access_token"), try text(grant, "refresh_token"))
        _ = try await ada.send("PUT", "/v1/users/me", json: #"{"display_name":"\#(name)"}"#, bearer: access)

        let order = try await ada.submit(try Photos.load(Photos.front[0]), template: "pencil-sketch", bearer: access)
        let finished = try await ada.job(order.jobID, bearer: access)
        let addresses = try await ada.get("/v1/images/jobs/\(order.jobID)?result=url", bearer: access).body["data"]["result"]
        let job = (
            id: order.jobID, picture: try text(finished["result"], "processed_image_base64"), link: try text(addresses, "thumbnail_url")
        )

        let bensAccess = try await ben.accessToken()
        // The answer to the creation of a topic contains the user's own id.
        let bensID = try text(try await ben.enter("event:ben-\(UUID().uuidString)", bearer: bensAccess).body["data"], "user_id")
        for (phone, user, bearer) in [(ada, "me", access), (ada, bensID, access), (ben, "me", bensAccess)] {
            _ = try await phone.enter("conversation:\(conversation)", user, bearer: bearer)
        }
        return Witness(ada: ada, ben: ben, email: email, access: access, refresh: refresh, job: job, photos: photos)
    }

    private static func text(_ answer: JSONAnswer, _ name: String) throws -> String {
        guard let text = answer[name].text else { throw DeadlineExceeded(description: "an answer without \(name): \(answer)") }
        return text
    }

    /// Returns what of before cannot be read or used any more.
    func losses() async throws -> [String] {
        var losses: [String] = []
        let outcome = try await signIn(with: try Photos.variants(of: Photos.sameFace))
        if outcome != "succeeded" { losses.append("the sign-in: \(outcome)") }
        let me = try await Self.insisting { try await ada.get("/v1/users/me", bearer: access) }
        if me.status != 200 || me.body["data"]["email"].text != email || me.body["data"]["display_name"].text != Self.name {
            losses.append("the account: \(me.status) \(me.body["error"])")
        }
        let finished = try await Self.insisting { try await ada.get("/v1/images/jobs/\(job.id)", bearer: access) }
        if finished.body["data"]["result"]["processed_image_base64"].text != job.picture {
            losses.append("the picture: \(finished.status)")
        }
        return losses
    }

    /// Signs Ada in, and returns the outcome with its reason.
    func signIn(with photos: [[UInt8]]) async throws -> String {
        let session = try await Self.insisting { try await ada.signIn(email: email, photos: photos) }
        guard session.status == 200 || session.status == 202 else { return "\(session.status) \(session.body["error"])" }
        let record = try await Self.insisting { try await ada.outcome(of: session) }
        return record["reason"].text ?? record["state"].text ?? "none"
    }

    /// Returns the status of the thumbnail under the earlier link, and under a link that is made now.
    func thumbnails() async throws -> (old: Int, new: Int) {
        let addresses = try await Self.insisting { try await ada.get("/v1/images/jobs/\(job.id)?result=url", bearer: access) }
        let link = addresses.body["data"]["result"]["thumbnail_url"].text ?? ""
        let old = try await Self.insisting { try await ada.fetch(link: job.link) }
        return (old.status, try await Self.insisting { try await ada.fetch(link: link) }.status)
    }

    /// Returns the status of an exchange of the refresh token of before.
    func refreshed() async throws -> Int {
        try await Self.insisting {
            try await ada.post("/api/v1/auth/refresh", json: #"{"refresh_token":"\#(refresh)"}"#)
        }.status
    }

    /// Returns the texts of all messages that Ben's phone got, with their titles.
    func messages() async throws -> [(title: String, text: String)] {
        let all = try await ben.pushes(count: 0).filter { $0["data"]["conversationId"].text == Self.conversation }
        return all.map { ($0["notification"]["title"].text ?? "", $0["notification"]["body"].text ?? "") }
    }

    /// Repeats a request that got no answer, for a minute.
    static func insisting<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await eventually(within: .seconds(60), "a request is answered") {
            do { return try await body() } catch is HTTPClientError { return nil }
        }
    }
}
