import Foundation
import TestSupport
import Testing

/// A person with an account and a known phone, and people like her, who do what everybody does while strangers attack.
struct HonestOwner: Sendable {
    /// The time after which something counts as never.
    private static let patience: Duration = .seconds(180)
    /// The address of honest people, who share no place with strangers.
    static let address = "203.0.113.7"
    /// The people who have signed up.
    private static let people = EventCount()

    let phone: Phone
    let email: String
    let userID: String
    let accessToken: String

    /// Makes an account, and signs in on its phone, which is known then.
    static func make(_ stack: Stack) async throws -> HonestOwner {
        let phone = try await Phone.make(stack).at(address)
        let email = "owner-\(UUID().uuidString)@example.org"
        let userID = try await phone.enrol(email: email).userID
        try await forgetPhotos(stack)
        let login = try await phone.signIn(email: email, faces: Photos.sameFace)
        #expect(try await phone.outcome(of: login)["state"].text == "succeeded")
        let grant = try await phone.redeem(login, email: email)
        guard let token = grant.body["access_token"].text else { throw DeadlineExceeded(description: "no token: \(grant.status)") }
        return HonestOwner(phone: phone, email: email, userID: userID, accessToken: token)
    }

    /// The tests have few photos of a person, which would be replays the second time.
    static func forgetPhotos(_ stack: Stack) async throws {
        try await stack.database.psql("DELETE FROM face_photo_hashes; DELETE FROM pending_enrolments")
    }

    /// Times something again and again: without an attack a number of times, under one as long as that goes on, and at least once.
    static func times(isCalm: Bool, _ body: () async throws -> Bool) async throws -> Times {
        let scale = AbuseScale.current
        let deadline = ContinuousClock.now + scale.duration
        var milliseconds: [Double] = []
        repeat {
            let start = ContinuousClock.now
            let isDone = (try? await body()) ?? false
            milliseconds.append(isDone ? (ContinuousClock.now - start) / .milliseconds(1) : .infinity)
        } while isCalm ? milliseconds.count < scale.calmCount : ContinuousClock.now < deadline
        return Times(milliseconds)
    }

    /// A new person signs up at an address of their own, and the photos are decided.
    static func signUp(_ stack: Stack) async throws -> Bool {
        try await forgetPhotos(stack)
        let phone = try await Phone.make(stack).at(newAddress())
        let email = "new-\(UUID().uuidString)@example.org"
        return try await isDecided(phone) { try await phone.signUp(email: email, comment: UUID().uuidString) } == "succeeded"
    }

    /// The owner signs in on the known phone, which stands for the phones of many and so is at another address each time: at one it would
    /// send more than a phone does.
    func signIn() async throws -> Bool {
        try await Self.forgetPhotos(phone.stack)
        return try await signInAsIs(on: phone.at(Self.newAddress())) == "succeeded"
    }

    /// An address at which no person was before.
    static func newAddress() -> String {
        let number = people.add()
        return "198.51.\(number / 250).\(number % 250 + 1)"
    }

    /// Signs in on a phone with what the service remembers of photos, and returns the state or reason.
    func signInAsIs(on phone: Phone, bearer: String? = nil) async throws -> String {
        try await Self.isDecided(phone) {
            try await phone.signIn(email: email, photos: try Photos.variants(of: Photos.sameFace), bearer: bearer)
        }
    }

    /// Sends an upload, again when it is refused for the time being as an app does, and returns the state, the reason or the error's code.
    private static func isDecided(_ phone: Phone, _ upload: () async throws -> Answer) async throws -> String {
        let deadline = ContinuousClock.now + patience
        while true {
            let answer = try await upload()
            if answer.status == 200 {
                let record = try await phone.outcome(of: answer)
                return record["reason"].text ?? record["state"].text ?? "unknown"
            }
            let code = answer.body["error"]["code"].text ?? "\(answer.status)"
            let wait = answer.headers.first { $0.name.lowercased() == "retry-after" }.flatMap { Double($0.value) }
            guard let wait, ContinuousClock.now + .seconds(wait) < deadline else { return code }
            try await Task.sleep(for: .seconds(wait))
        }
    }

    /// The owner of an account orders an ordinary picture, and gets it.
    func picture() async throws -> Bool {
        let accepted = try await phone.submit(try Photos.load(Photos.front[0]), template: "pencil-sketch", bearer: accessToken)
        return try await phone.job(accepted.jobID, bearer: accessToken)["status"].text == "completed"
    }
}
